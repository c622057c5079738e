import { z } from 'zod';
import {
  ALTERNATIVE_CODECS,
  type AlternativeCodec,
  I_FRAME_RENDITION,
  isAudioRendition,
  partsOf,
  type RenditionName,
} from '../renditions.ts';
import type { TaskKind } from './kinds.ts';
import { hasSegment, piece } from './piece-task.ts';

/** A piece in a codec that the video does not wait for. I-frames are those of H.264. */
export const codecPiece = piece
  .omit({ firstIFrame: true, iFrames: true })
  .extend({ codec: z.enum(ALTERNATIVE_CODECS) });

const work = codecPiece.extend({ kind: z.literal('codec_piece') });
export type CodecPieceTask = z.infer<typeof work>;

/** Some segments of all encoded renditions in such a codec. Players get them when all tasks of the codec are done. */
export const CODEC_PIECE: TaskKind<typeof work> = {
  work,
  weight: ({ frames }) => frames,
  makes: (task, { rendition, sequence }) => isInCodec(task.codec, rendition) && hasSegment(task, sequence),
  mayBeOptional: true,
};

/** Whether a rendition is video in a codec beside H.264. */
export function isInCodec(codec: AlternativeCodec, rendition: RenditionName): boolean {
  return (
    rendition !== I_FRAME_RENDITION && !isAudioRendition(rendition) && partsOf(rendition).codec === codec
  );
}
