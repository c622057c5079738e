import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import type { GroupOfPictures } from '../../../packagers/packager.ts';
import { toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';
import { type Edge, timestampOf } from './clip-job.ts';

/** Frames of an edge, counted from the first one of the clip: all or some frames of a group of pictures of the parent. */
export type EdgePart = {
  firstFrame: number;
  frames: number;
  /** The group, as a segment. */
  group: Buffer;
  /** Whether the edge has all frames of the group. They are not encoded again. */
  isWhole: boolean;
};

/**
 * What an edge of a rendition consists of, in order.
 *
 * @param groups those of the segment of the parent
 */
export function edgeParts(
  job: ClipJob,
  edge: Edge,
  { frameStep }: Pick<VideoRenditionPlan, 'frameStep'>,
  groups: readonly GroupOfPictures[],
): EdgePart[] {
  const rate = toNumber(job.plan.encode.frameRate);
  const firstOf = ({ start }: GroupOfPictures) => Math.round((start - timestampOf(job, 0)) * rate);
  const edgeEnd = edge.firstFrame + edge.frames;
  return groups.flatMap((group, at) => {
    const next = groups[at + 1];
    const first = firstOf(group);
    const end = next === undefined ? first + group.units * frameStep : firstOf(next);
    const from = Math.max(first, edge.firstFrame);
    const to = Math.min(end, edgeEnd);
    if (from >= to) return [];
    // With a step, the last frame of the video may stand for fewer.
    const isWhole = from === first && end - to < frameStep;
    return [{ firstFrame: from, frames: to - from, group: group.segment, isWhole }];
  });
}
