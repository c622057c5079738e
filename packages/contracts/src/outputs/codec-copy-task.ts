import { z } from 'zod';
import { ALTERNATIVE_CODECS, I_FRAME_RENDITION, isAudioRendition, partsOf } from '../renditions.ts';
import { lightWork, type TaskKind } from './kinds.ts';
import { piece } from './piece-task.ts';

const work = piece
  .omit({ firstIFrame: true, iFrames: true })
  .extend({ kind: z.literal('codec_copy'), codec: z.enum(ALTERNATIVE_CODECS) });
export type CodecCopyTask = z.infer<typeof work>;

/**
 * The top rendition in a codec that the video does not wait for, as a stream copy of the source: all of it, described as a piece, because it is encoded
 * if it cannot be copied.
 */
export const CODEC_COPY: TaskKind<typeof work> = {
  work,
  weight: lightWork,
  makes: ({ codec }, { rendition, isCopy }) =>
    isCopy &&
    rendition !== I_FRAME_RENDITION &&
    !isAudioRendition(rendition) &&
    partsOf(rendition).codec === codec,
  mayBeOptional: true,
};
