import { z } from 'zod';
import {
  I_FRAME_RENDITION,
  isAudioRendition,
  PLAIN_CODEC,
  partsOf,
  type RenditionName,
} from '../renditions.ts';
import type { TaskKind } from './kinds.ts';

/** The maximum number of byte ranges of a piece. A source of the usual structure needs at most four. */
export const MAX_RANGES = 64;

/** The number of a frame of the top rendition. */
export const frameNumber = z.int().nonnegative();

/**
 * A piece: some segments of all encoded video renditions in one codec. Frames are counted in the top rendition, from the first frame of the video. All
 * fields except `seek` and `bytes` describe frames and segments of the output. So adjacent pieces join without gap or overlap.
 */
export const piece = z.object({
  firstSegment: z.int().nonnegative(),
  firstFrame: frameNumber,
  frames: z.int().positive(),
  /** The frames that segments begin with. The first one is `firstFrame`. */
  segmentStarts: z.array(frameNumber).min(1).readonly(),
  /** The key frames, those that begin segments included. */
  keyFrames: z.array(frameNumber).min(1).readonly(),
  /** The number of the first I-frame of the rendition `iframes`, and how many I-frames the piece has. */
  firstIFrame: z.int().nonnegative(),
  iFrames: z.int().nonnegative(),
  /**
   * Where ffmpeg seeks to before it reads, in seconds after the earliest timestamp of the file. Null: it reads from the start of the file.
   */
  seek: z.number().nonnegative().nullable(),
  /** The bytes of the source that the piece needs: first byte and the byte after the last one, ascending. Absent if it needs all. */
  bytes: z
    .array(z.tuple([z.int().nonnegative(), z.int().positive()]).readonly())
    .max(MAX_RANGES)
    .readonly()
    .optional(),
});
export type Piece = z.infer<typeof piece>;

const work = piece.extend({ kind: z.literal('piece') });
export type PieceTask = z.infer<typeof work>;

/** Some segments of all encoded H.264 renditions, and of the I-frames. */
export const PIECE: TaskKind<typeof work> = {
  work,
  weight: ({ frames }) => frames,
  makes: (piece, { rendition, sequence, isCopy }) =>
    !isCopy && isPlain(rendition) && hasSegment(piece, sequence),
  mayBeOptional: false,
};

/** Whether a segment is one of those of a piece, by its number. */
export function hasSegment(
  { firstSegment, segmentStarts }: Pick<Piece, 'firstSegment' | 'segmentStarts'>,
  sequence: number,
): boolean {
  return sequence >= firstSegment && sequence < firstSegment + segmentStarts.length;
}

function isPlain(rendition: RenditionName): boolean {
  if (rendition === I_FRAME_RENDITION) return true;
  return !isAudioRendition(rendition) && partsOf(rendition).codec === PLAIN_CODEC;
}
