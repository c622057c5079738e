import { z } from 'zod';
import { codecPiece, isInCodec } from './codec-piece-task.ts';
import { lightWork, type TaskKind } from './kinds.ts';

const work = codecPiece.extend({ kind: z.literal('codec_copy') });
export type CodecCopyTask = z.infer<typeof work>;

/**
 * The top rendition in a codec that the video does not wait for, as a stream copy of the source: all of it, described as a piece, because it is encoded
 * if it cannot be copied. Then it is more work than its weight says.
 */
export const CODEC_COPY: TaskKind<typeof work> = {
  work,
  weight: lightWork,
  makes: ({ codec }, { rendition, isCopy }) => isCopy && isInCodec(codec, rendition),
  mayBeOptional: true,
};
