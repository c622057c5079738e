import type { ClipWork, SegmentRange } from './clip-work.ts';
import { I_FRAME_RENDITION, type RenditionName } from './renditions.ts';
import { audioSegmentStarts } from './segment-times.ts';
import { type EncodePlan, isSoundAlone, type TaskPlan } from './transcode-plan.ts';

/** Frames of the top rendition of a video: the first one, and how many. */
export type FrameWindow = { firstFrame: number; frames: number };

/** What is known of a video whose frames are counted. */
type CountedVideo = { encode: Pick<EncodePlan, 'frameRate' | 'frames' | 'videoRenditions'> };

/** What is known of a stored rendition. */
type StoredDurations = { name: RenditionName; segmentDurations: readonly number[] };

/** Audio is read from this many seconds before the clip to as many after it: its frames, and its decoder's, overlap the boundaries of the video. */
const AUDIO_MARGIN_SECONDS = 0.1;

/** Seconds of one frame of a video. The boundaries of a clip are frames that all its renditions have. */
export function frameSeconds({ encode }: CountedVideo): number {
  return stepOf(encode) / rateOf(encode);
}

/** The frames of a clip from `start` to `end`, in seconds: those nearest to both, one at least. It may end after the video. */
export function windowOf(
  { encode }: CountedVideo,
  { start, end }: { start: number; end: number },
): FrameWindow {
  const step = stepOf(encode);
  const frameAt = (seconds: number) => step * Math.round((seconds * rateOf(encode)) / step);
  const firstFrame = frameAt(start);
  // The last frame of the video may be one that not all renditions have.
  const endFrame =
    frameAt(end) >= encode.frames && frameAt(end) < encode.frames + step ? encode.frames : frameAt(end);
  return { firstFrame, frames: Math.max(step, endFrame - firstFrame) };
}

/** When a window begins and ends, in seconds with six decimals. */
export function secondsOf(
  { encode }: CountedVideo,
  { firstFrame, frames }: FrameWindow,
): { start: number; end: number } {
  const seconds = (frame: number) => Number((frame / rateOf(encode)).toFixed(6));
  return { start: seconds(firstFrame), end: seconds(firstFrame + frames) };
}

/**
 * The plan of a clip, and how to make it.
 *
 * @param parent the plan of a ready video
 * @param stored all its renditions
 * @param window frames that it has
 */
export function planClip(
  parent: TaskPlan,
  stored: readonly StoredDurations[],
  window: FrameWindow,
): { plan: TaskPlan; work: ClipWork } {
  const { encode } = parent;
  const rate = rateOf(encode);
  const { firstFrame, frames } = window;
  // What was cut off of the file of the parent is nothing that a clip reads, and its key frames and codecs are others.
  const { keyFrames: _, copiedAlternative: __, ...plain } = encode;
  const { seek: ___, ...reading } = encode.reading ?? {};
  const from = firstFrame / rate;
  const duration = frames / rate;
  const cut = isSoundAlone(encode) ? cutSound(parent, duration) : cutVideo(parent, window);
  const rangeOf = ({ name, segmentDurations }: StoredDurations): SegmentRange => {
    if (name === I_FRAME_RENDITION) return segmentsStarting(segmentDurations, cut.takenOver, 0.5 / rate);
    if (encode.videoRenditions.some((rendition) => rendition.name === name)) return cut.segments;
    const margin = AUDIO_MARGIN_SECONDS;
    return segmentsWithin(segmentDurations, { from: from - margin, to: from + duration + margin });
  };
  return {
    plan: {
      ...parent,
      revision: 0,
      // A clip takes H.264 over alone.
      alternatives: [],
      segmentStarts: cut.segmentStarts,
      encode: {
        ...plain,
        reading,
        firstFrame: 0,
        frames,
        duration,
        audio: encode.audio.map((audio) => ({ ...audio, end: Math.min(audio.end - from, duration) })),
        inputIssues: [],
      },
    },
    work: {
      kind: 'clip',
      firstFrame,
      head: cut.head,
      tail: cut.tail,
      segments: Object.fromEntries(stored.map((each) => [each.name, rangeOf(each)])),
    },
  };
}

type Seconds = { from: number; to: number };

/** How the video of a clip is divided into segments, and the times of the parent at which those begin and end that are not encoded again. */
type Cut = Pick<ClipWork, 'head' | 'tail'> & {
  segments: SegmentRange;
  segmentStarts: readonly number[];
  takenOver: Seconds;
};

function cutVideo({ encode, segmentStarts }: TaskPlan, { firstFrame, frames }: FrameWindow): Cut {
  const endFrame = firstFrame + frames;
  const first = segmentStarts.findLastIndex((start) => start <= firstFrame);
  const end = segmentStarts.findLastIndex((start) => start < endFrame) + 1;
  const startOf = (segment: number) => segmentStarts[segment] ?? encode.frames;
  const cutsStart = startOf(first) < firstFrame;
  const cutsEnd = startOf(end) > endFrame;
  const isOne = end - first === 1;
  const head = cutsStart || (isOne && cutsEnd);
  const tail = cutsEnd && !isOne;
  const rate = rateOf(encode);
  const starts = segmentStarts.slice(first, end).map((start) => Math.max(0, start - firstFrame));
  return {
    head,
    tail,
    segments: { first, end },
    segmentStarts: starts,
    takenOver: { from: startOf(head ? first + 1 : first) / rate, to: startOf(tail ? end - 1 : end) / rate },
  };
}

function cutSound({ encode }: TaskPlan, duration: number): Cut {
  const rate = rateOf(encode);
  return {
    head: false,
    tail: false,
    segments: { first: 0, end: 0 },
    segmentStarts: audioSegmentStarts(encode, duration).map((start) => Math.round(start * rate)),
    takenOver: { from: 0, to: 0 },
  };
}

/**
 * The segments that begin within a time.
 *
 * @param tolerance durations are rounded, and those of hours add up to some milliseconds
 */
function segmentsStarting(
  durations: readonly number[],
  { from, to }: Seconds,
  tolerance: number,
): SegmentRange {
  const starts = startsOf(durations);
  const countBefore = (time: number) => starts.filter((start) => start < time - tolerance).length;
  const first = countBefore(from);
  return { first, end: Math.max(first, countBefore(to)) };
}

/** The segments that are shown within a time. */
function segmentsWithin(durations: readonly number[], { from, to }: Seconds): SegmentRange {
  const starts = startsOf(durations);
  const first = Math.max(
    0,
    starts.findLastIndex((start) => start <= from),
  );
  return { first, end: Math.max(first + 1, starts.filter((start) => start < to).length) };
}

function startsOf(durations: readonly number[]): number[] {
  let at = 0;
  return durations.map((duration) => {
    const start = at;
    at += duration;
    return start;
  });
}

function rateOf({ frameRate }: CountedVideo['encode']): number {
  return frameRate.numerator / frameRate.denominator;
}

function stepOf({ videoRenditions }: CountedVideo['encode']): number {
  return Math.max(1, ...videoRenditions.map(({ frameStep }) => frameStep));
}
