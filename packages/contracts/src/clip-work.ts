import { z } from 'zod';
import { frameNumber } from './outputs/piece-task.ts';
import { RENDITIONS } from './renditions.ts';

/** Segments of a rendition: the first one, and the one after the last. */
const segmentRange = z.object({ first: z.int().nonnegative(), end: z.int().nonnegative() });
export type SegmentRange = z.infer<typeof segmentRange>;

/**
 * How to make a clip from the stored renditions of another video, its parent. The segments of its video are those of the parent, except the first
 * and the last one where the clip does not begin or end with a segment: these edges are made anew. All frames of its audio are those of the
 * parent, in other segments. Frames are counted in the top rendition.
 */
export const clipWorkSchema = z.object({
  kind: z.literal('clip'),
  /** The first frame of the clip, counted from the first one of the parent. */
  firstFrame: frameNumber,
  /** Whether the first and the last segment of the video are edges. If there is one segment, it is the first. */
  head: z.boolean(),
  tail: z.boolean(),
  /** The segments of the parent to read, by rendition. I-frames of the edges are not among them. */
  segments: z.partialRecord(z.enum(RENDITIONS), segmentRange),
});
export type ClipWork = z.infer<typeof clipWorkSchema>;
