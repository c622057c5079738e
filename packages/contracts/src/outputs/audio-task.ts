import { z } from 'zod';
import { isAudioRendition } from '../renditions.ts';
import { lightWork, type TaskKind } from './kinds.ts';

const work = z.object({ kind: z.literal('audio') });

/** All audio renditions, from beginning to end: pieces of audio would have gaps between them. */
export const AUDIO: TaskKind<typeof work> = {
  work,
  weight: lightWork,
  makes: (_, { rendition }) => isAudioRendition(rendition),
  mayBeOptional: false,
};
