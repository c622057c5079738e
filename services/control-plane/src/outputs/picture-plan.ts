import {
  type PictureFit,
  type PictureFormat,
  type PictureWork,
  POSTER_PICTURE,
} from '@framelane/contracts/outputs/picture';
import { RUNGS, type VideoRendition } from '@framelane/contracts/renditions';

/** The longest side of a picture whose size is not given. */
const DEFAULT_SIDE = 640;

/** The short side of the rendition that posters are made from, at most. */
const POSTER_SHORT_SIDE = 720;

const MILLISECONDS = 1000;

/** A frame that a client asks for. Times are in seconds. */
export type StillRequest = {
  time: number;
  width?: number | undefined;
  height?: number | undefined;
  fit: PictureFit;
  format: Extract<PictureFormat, 'jpg' | 'webp'>;
};

/** A moving picture that a client asks for. */
export type MovingRequest = {
  start: number;
  duration: number;
  width: number;
  fps: number;
  format: Extract<PictureFormat, 'webp' | 'gif'>;
};

type Size = { width: number; height: number };

/** A stored video rendition. */
export type PicturedRendition = Size & { name: VideoRendition; frameRate: number };

/** What is known of a ready video: its duration in seconds, and its video renditions, lowest first. */
export type PicturedVideo = { duration: number; renditions: readonly PicturedRendition[] };

/** The work on a picture, except the numbers of its segments. */
export type PlannedPicture = Omit<PictureWork, 'segments'>;

/**
 * The frame that a client asks for. Two requests for the same picture have the same name. Undefined if the video has no frame at that time, as sound
 * alone.
 */
export function planStill(request: StillRequest, video: PicturedVideo): PlannedPicture | undefined {
  const { fit, format } = request;
  const start = millisecond(request.time, video);
  const top = video.renditions.at(-1);
  if (start === undefined || top === undefined) return undefined;
  const { size, frame } = sizes(request, top);
  // Low renditions of fast video lack every second frame.
  const complete = video.renditions.filter(({ frameRate }) => frameRate >= 0.9 * top.frameRate);
  const rendition = smallestFor(frame, complete);
  const name = `thumbnail-${start}-${size.width}x${size.height}-${fit}.${format}`;
  return { kind: 'picture', name, rendition, start, motion: null, format, ...size, fit };
}

/** The moving picture that a client asks for; undefined if the video has no frame at its start. */
export function planMoving(request: MovingRequest, video: PicturedVideo): PlannedPicture | undefined {
  const { fps, format } = request;
  const start = millisecond(request.start, video);
  const top = video.renditions.at(-1);
  if (start === undefined || top === undefined) return undefined;
  const { size } = sizes({ width: request.width, fit: 'contain' }, top);
  const left = Math.round(video.duration * MILLISECONDS) - start;
  const available = Math.ceil((left * fps) / MILLISECONDS);
  const frames = Math.max(1, Math.min(Math.round(request.duration * fps), available));
  const name = `preview-${start}-${frames}x${fps}-${size.width}x${size.height}.${format}`;
  const rendition = smallestFor(size, video.renditions);
  const motion = { frames, framesPerSecond: fps };
  return { kind: 'picture', name, rendition, start, motion, format, ...size, fit: 'contain' };
}

/** The frame at a second as the poster; undefined if the video has no frame at that time. */
export function planPoster(time: number, video: PicturedVideo): PlannedPicture | undefined {
  const shortSide = ({ width, height }: Size) => Math.min(width, height);
  const source =
    video.renditions.findLast((each) => shortSide(each) <= POSTER_SHORT_SIDE) ?? video.renditions[0];
  const still = source && planStill({ time, ...sizeOf(source), fit: 'contain', format: 'jpg' }, video);
  return still && { ...still, name: POSTER_PICTURE };
}

/** The segments that have the frames of a picture: `durations` are those of all segments of its rendition, in seconds. */
export function segmentsFor(
  { start, motion }: Pick<PlannedPicture, 'start' | 'motion'>,
  durations: readonly number[],
): PictureWork['segments'] {
  const last = start + (motion === null ? 0 : (MILLISECONDS * (motion.frames - 1)) / motion.framesPerSecond);
  let begins = 0;
  let first = 0;
  let end = 0;
  for (const [number, duration] of durations.entries()) {
    // A frame is due at the nearest millisecond.
    const due = Math.round(begins * MILLISECONDS);
    if (due <= start) first = number;
    if (due <= last) end = number + 1;
    begins += duration;
  }
  return { first, count: Math.max(1, end - first) };
}

/** A time in whole milliseconds; undefined if the video has ended then. */
function millisecond(seconds: number, { duration }: PicturedVideo): number | undefined {
  const time = Math.round(seconds * MILLISECONDS);
  return seconds < duration ? time : undefined;
}

/** The size of a picture, and that of the whole frame in it. No frame is larger than `top`. */
function sizes(
  { width, height, fit }: { width?: number | undefined; height?: number | undefined; fit: PictureFit },
  top: Size,
): { size: Size; frame: Size } {
  const box =
    width === undefined && height === undefined
      ? { width: DEFAULT_SIDE, height: DEFAULT_SIDE }
      : { width, height };
  const scales = [(box.width ?? Infinity) / top.width, (box.height ?? Infinity) / top.height];
  if (fit === 'contain' || width === undefined || height === undefined) {
    const size = scaled(top, Math.min(1, ...scales));
    return { size, frame: size };
  }
  const scale = fit === 'cover' ? Math.max(...scales) : Math.min(...scales);
  const reduced = Math.min(1, 1 / scale);
  return { size: scaled({ width, height }, reduced), frame: scaled(top, scale * reduced) };
}

function scaled({ width, height }: Size, factor: number): Size {
  const pixels = (side: number) => Math.max(1, Math.round(side * factor));
  return { width: pixels(width), height: pixels(height) };
}

/** The smallest rendition that need not be enlarged for a frame, or the largest one. Those in the codec that everything decodes have the names of their rungs. */
function smallestFor(frame: Size, renditions: readonly PicturedRendition[]): VideoRendition {
  const plain = renditions.filter(({ name }) => (RUNGS as readonly string[]).includes(name));
  const found =
    plain.find(({ width, height }) => width >= frame.width && height >= frame.height) ?? plain.at(-1);
  if (found === undefined) throw new Error('A video has no rendition in the plain codec');
  return found.name;
}

function sizeOf({ width, height }: Size): Size {
  return { width, height };
}
