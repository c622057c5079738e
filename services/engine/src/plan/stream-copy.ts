import { audioSegmentStarts, type Cuts, segmentDue } from '@framelane/contracts/segment-times';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { AUDIO_ENCODER, encoderOf } from '../encoders/encoders.ts';
import { AAC_FRAME_SAMPLES, type AudioFrames } from '../source/audio-scan.ts';
import { containerTraits } from '../source/containers.ts';
import { type FrameRate, toNumber } from '../source/frame-rate.ts';
import { type Gop, type GopFlaw, MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import type { AudioTrack, VideoTrack } from '../source/media-source.ts';

/** The property of a track that prevents a stream copy. */
export type Obstacle =
  | 'container'
  | 'codec'
  | 'profile'
  | 'level'
  | 'pixel_format'
  | 'colour'
  | 'interlaced'
  | 'shape'
  | 'size'
  | 'frame_rate'
  | 'truncated'
  | 'length'
  | 'bit_rate'
  | 'segments'
  | 'channels'
  | 'sample_rate'
  | 'gaps'
  | 'start'
  | 'watermark'
  | 'trim'
  | GopFlaw;

/** How to pass a track through, or why it must be encoded. */
export type Verdict<T> = { copy: T; obstacle: null } | { copy: null; obstacle: Obstacle };

/** Colour matrices of standard dynamic range. Untagged video follows the standard of its size. */
const MATRICES = [null, 'bt709', 'smpte170m', 'bt470bg'];
/** Colour primaries and transfer functions of standard dynamic range that players and zimg support. */
const PRIMARIES = MATRICES;
const TRANSFERS = [null, 'bt709', 'smpte170m', 'bt470bg', 'bt470m', 'iec61966-2-1'];

/** Cuts to try. */
const CUTS: readonly Cuts[] = [true, false].flatMap((startsShort) =>
  [6, 5, 4].map((segmentSeconds) => ({ startsShort, segmentSeconds })),
);
/** The decoder buffer, in seconds at the maximum bit rate: the window in which that rate holds. Encoded renditions get it as `-bufsize`. */
export const BUFFER_SECONDS = 2;

const MAX_AUDIO_RATE = 160_000;
/** One frame, and a tolerance for the rounded times of containers. */
const FRAME_TOLERANCE = 1.01;
/** An offset between audio and video that is not noticeable. */
const MAX_OFFSET_SECONDS = 0.01;

export type VideoCopyFacts = {
  container: string;
  video: VideoTrack;
  /** The groups of pictures, or why the scan of the packets stopped. */
  gops: readonly Gop[] | GopFlaw;
  /** The top rendition as it would be encoded, in the codec of the copy. */
  top: VideoRenditionPlan;
  /** The largest frame step of the lower renditions: 2 if one of them has every second frame. */
  frameStep: number;
  frameRate: FrameRate;
  /** Seconds of the output. */
  duration: number;
  /** The seconds of the key frames of encoded renditions, if these do not have all those of the source. */
  keyFrames?: readonly number[];
};

/** The first rule that applies names the obstacle, in any codec. */
const VIDEO_OBSTACLES: readonly (readonly [Obstacle, (facts: VideoCopyFacts) => boolean])[] = [
  ['pixel_format', ({ video }) => video.pixelFormat !== 'yuv420p' || video.fullRange],
  ['colour', ({ video }) => !hasUsualColours(video)],
  ['interlaced', ({ video }) => video.interlaced],
  ['shape', ({ video }) => video.turn.length > 0 || !video.squarePixels],
  ['size', ({ video: { coded }, top }) => coded.width !== top.width || coded.height !== top.height],
  ['frame_rate', ({ video, frameRate }) => !isSameRate(video.declaredRate, frameRate)],
];

/**
 * Whether the source's video can be the top rendition as a stream copy, and how segments are cut. All renditions are
 * then cut at its key frames.
 */
export function checkVideoCopy(facts: VideoCopyFacts): Verdict<Cuts> {
  const { gops, top, duration, frameStep } = facts;
  if (!containerTraits(facts.container).allowsCopy) return refused('container');
  const ofCodec = encoderOf(top.name).copyObstacle(facts.video);
  if (ofCodec) return refused(ofCodec);
  const found = VIDEO_OBSTACLES.find(([, holds]) => holds(facts));
  if (found) return refused(found[0]);
  if (typeof gops === 'string') return refused(gops);
  const end = gops.reduce((sum, gop) => sum + gop.duration, 0);
  const frameSeconds = 1 / toNumber(facts.frameRate);
  // The last packet of a truncated file may be incomplete.
  if ((facts.video.declaredDuration ?? 0) > end + frameSeconds) return refused('truncated');
  if (Math.abs(end - duration) > frameSeconds / 2) return refused('length');
  if (!staysUnder(top.maxRate, gops)) return refused('bit_rate');
  const { keyFrames = gops.map(({ start }) => start) } = facts;
  const cuts = CUTS.find((each) => {
    const starts = segmentStarts(keyFrames, each);
    const isSuitable =
      longestSegment(starts, end) < MAX_GOP_SECONDS && isShared(starts, frameSeconds, frameStep);
    return isSuitable && (!each.startsShort || matchAudio(starts, each, end));
  });
  return cuts === undefined ? refused('segments') : { copy: cuts, obstacle: null };
}

type AudioFacts = {
  container: string;
  audio: AudioTrack;
  /** Null if the audio has gaps, changes its description or was not scanned. */
  frames: AudioFrames | null;
  /** Seconds by which the video is moved to an earlier time (see EncodePlan). Copied audio cannot be moved. */
  lead: number;
  /** Seconds of the output. */
  duration: number;
};

/**
 * Whether the source's audio can be copied: how many of its frames, and the second at which they end. Audio
 * must start and end with the video, within one frame (HLS authoring specification 8.7).
 */
export function checkAudioCopy(facts: AudioFacts): Verdict<{ frames: number; end: number }> {
  const { container, audio, frames, lead, duration } = facts;
  if (!containerTraits(container).allowsCopy) return refused('container');
  const obstacle = AUDIO_ENCODER.copyObstacle(audio);
  if (obstacle) return refused(obstacle);
  if (!frames) return refused('gaps');
  const frameSeconds = AAC_FRAME_SAMPLES / audio.sampleRate;
  if (Math.abs(lead) > MAX_OFFSET_SECONDS || Math.abs(frames.start) > frameSeconds * FRAME_TOLERANCE) {
    return refused('start');
  }
  // The last frame starts before the video ends, so it does not become a segment of its own.
  const wanted = Math.ceil((duration - Math.max(0, frames.start)) / frameSeconds);
  const passed = Math.min(wanted, frames.frames);
  const end = frames.start + passed * frameSeconds;
  if (end < duration - frameSeconds * FRAME_TOLERANCE) return refused('length');
  if ((frames.bytes * 8) / (frames.frames * frameSeconds) > MAX_AUDIO_RATE) return refused('bit_rate');
  return { copy: { frames: passed, end }, obstacle: null };
}

export function refused(obstacle: Obstacle): { copy: null; obstacle: Obstacle } {
  return { copy: null, obstacle };
}

function hasUsualColours({ dynamicRange, colorMatrix, colorPrimaries, colorTransfer }: VideoTrack): boolean {
  return (
    dynamicRange === 'sdr' &&
    MATRICES.includes(colorMatrix) &&
    PRIMARIES.includes(colorPrimaries) &&
    TRANSFERS.includes(colorTransfer)
  );
}

function isSameRate(a: FrameRate | null, b: FrameRate): boolean {
  return a !== null && a.numerator * b.denominator === b.numerator * a.denominator;
}

/** Bits per second of all groups of pictures together. */
export function averageRate(gops: readonly Gop[]): number {
  const seconds = gops.reduce((sum, { duration }) => sum + duration, 0);
  return gops.reduce((sum, { bytes }) => sum + 8 * bytes, 0) / seconds;
}

/**
 * Whether the average bit rate stays below the limit, and a leaky bucket never overflows. The bucket has the size of the decoder
 * buffer and drains at the limit.
 */
function staysUnder(bitsPerSecond: number, gops: readonly Gop[]): boolean {
  const excess = gops.reduce((sum, { bytes, duration }) => sum + bytes * 8 - bitsPerSecond * duration, 0);
  if (excess > 0) return false;
  let waiting = 0;
  for (const { bytes, duration } of gops) {
    waiting = Math.max(0, waiting + bytes * 8 - bitsPerSecond * duration);
    if (waiting > bitsPerSecond * BUFFER_SECONDS) return false;
  }
  return true;
}

/** Times are computed from frame numbers. */
const ROUNDING_SECONDS = 1e-6;

/** The start times of segments: each begins at the first key frame at or after the time at which it is due. */
export function segmentStarts(keyFrames: readonly number[], cuts: Cuts): number[] {
  const starts = [0];
  for (const time of keyFrames) {
    if (time >= segmentDue(starts.length, cuts) - ROUNDING_SECONDS) starts.push(time);
  }
  return starts;
}

/** Whether video that is cut at its own key frames has a segment for each segment of audio of the same duration, near the same time. */
function matchAudio(starts: readonly number[], cuts: Cuts, end: number): boolean {
  const isNear = starts.every((start, at) => start < segmentDue(at + 1, cuts));
  return isNear && starts.length === audioSegmentStarts(cuts, end).length;
}

function longestSegment(starts: readonly number[], end: number): number {
  return Math.max(...starts.map((start, at) => (starts[at + 1] ?? end) - start));
}

/** Whether all segments start with a frame that renditions of a lower frame rate also have. */
function isShared(starts: readonly number[], frameSeconds: number, frameStep: number): boolean {
  return starts.every((start) => Math.round(start / frameSeconds) % frameStep === 0);
}
