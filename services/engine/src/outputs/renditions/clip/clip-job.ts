import type { ClaimedClip } from '@framelane/contracts/internal-api';
import { CLOCK_HZ, START_TIMESTAMP } from '@framelane/contracts/manifest';
import { isAudioRendition, type RenditionName } from '@framelane/contracts/renditions';
import { isSoundAlone } from '@framelane/contracts/transcode-plan';
import { toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';

/** A stored rendition of the parent. */
type ParentTrack = ClaimedClip['parent']['tracks'][number];

/** A segment of the clip's video that has a part of one segment of the parent. */
export type Edge = {
  /** The number of the segment in the clip, and that of the segment of the parent. */
  sequence: number;
  parentSequence: number;
  /** In frames of the clip. */
  firstFrame: number;
  frames: number;
};

/** The edges of a clip: none, one or two. */
export function edgesOf({ plan: { encode, segmentStarts }, work }: ClipJob): Edge[] {
  const [lowest] = encode.videoRenditions;
  const first = lowest === undefined ? 0 : rangeOf({ work }, lowest.name).first;
  const last = segmentStarts.length - 1;
  const edge = (sequence: number): Edge => {
    const firstFrame = segmentStarts[sequence] ?? 0;
    const frames = (segmentStarts[sequence + 1] ?? encode.frames) - firstFrame;
    return { sequence, parentSequence: first + sequence, firstFrame, frames };
  };
  return [...(work.head ? [edge(0)] : []), ...(work.tail ? [edge(last)] : [])];
}

/** The segments of the parent to read. */
export function rangeOf({ work }: Pick<ClipJob, 'work'>, name: RenditionName) {
  return work.segments[name] ?? { first: 0, end: 0 };
}

export function trackOf({ parent }: Pick<ClipJob, 'parent'>, name: RenditionName): ParentTrack {
  const track = parent.tracks.find((each) => each.name === name);
  if (track === undefined) throw new Error(`The parent has no ${name}`);
  return track;
}

export function audioTracksOf({ parent }: Pick<ClipJob, 'parent'>): ParentTrack[] {
  return parent.tracks.filter(({ name }) => isAudioRendition(name));
}

/** The timestamp of a frame of the clip in the segments of the parent, in seconds. */
export function timestampOf({ plan: { encode }, work, parent }: ClipJob, frame: number): number {
  return parent.startTimestamp / CLOCK_HZ + (work.firstFrame + frame) / toNumber(encode.frameRate);
}

/**
 * Seconds that are added to the timestamps of the parent. The segments of video keep theirs. Sound alone begins at the same timestamp in every
 * video.
 */
export function shiftOf(job: ClipJob): number {
  return isSoundAlone(job.plan.encode) ? START_TIMESTAMP / CLOCK_HZ - timestampOf(job, 0) : 0;
}
