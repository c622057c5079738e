import type { ClaimedClip } from '@framelane/contracts/internal-api';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import {
  type AudioRendition,
  isAudioRendition,
  type RenditionName,
  type SurroundRendition,
} from '@framelane/contracts/renditions';
import { isSoundAlone } from '@framelane/contracts/transcode-plan';
import type { Packager } from '../../../packagers/packager.ts';
import { packagerOf } from '../../../packagers/packagers.ts';
import { toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';
import type { RunContext } from '../../stored-run.ts';
import type { Reading } from '../../stored-tracks.ts';

/** A stored rendition of the parent. */
type ParentTrack = ClaimedClip['parent']['tracks'][number];

type AudioTrack = ParentTrack & { name: AudioRendition | SurroundRendition };

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

/** How the segments of the parent are packed, and those of the clip. */
export function packagerOfClip({ plan }: Pick<ClipJob, 'plan'>): Packager {
  return packagerOf(plan.encode.packaging);
}

/** What reading segments of the parent needs. */
export function readingOf(
  { plan, parent }: Pick<ClipJob, 'plan' | 'parent'>,
  { objects, signal }: Pick<RunContext, 'objects' | 'signal'>,
): Reading {
  const { contentKey } = parent;
  return { objects, packaging: plan.encode.packaging, contentKey, signal };
}

export function audioTracksOf({ parent }: Pick<ClipJob, 'parent'>): AudioTrack[] {
  return parent.tracks.filter((track): track is AudioTrack => isAudioRendition(track.name));
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
  const { encode } = job.plan;
  if (!isSoundAlone(encode)) return 0;
  return PACKAGINGS[encode.packaging].startTimestamp / CLOCK_HZ - timestampOf(job, 0);
}
