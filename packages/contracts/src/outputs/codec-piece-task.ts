import { z } from 'zod';
import { ALTERNATIVE_CODECS, I_FRAME_RENDITION, isAudioRendition, partsOf } from '../renditions.ts';
import type { TaskKind } from './kinds.ts';
import { hasSegment, piece } from './piece-task.ts';

const work = piece
  .omit({ firstIFrame: true, iFrames: true })
  .extend({ kind: z.literal('codec_piece'), codec: z.enum(ALTERNATIVE_CODECS) });
export type CodecPieceTask = z.infer<typeof work>;

/** Some segments of all renditions in a codec that the video does not wait for. Players get them when all pieces of the codec are stored. */
export const CODEC_PIECE: TaskKind<typeof work> = {
  work,
  weight: ({ frames }) => frames,
  makes: (task, { rendition, sequence }) =>
    rendition !== I_FRAME_RENDITION &&
    !isAudioRendition(rendition) &&
    partsOf(rendition).codec === task.codec &&
    hasSegment(task, sequence),
  mayBeOptional: true,
};
