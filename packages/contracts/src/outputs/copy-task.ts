import { z } from 'zod';
import { lightWork, type TaskKind } from './kinds.ts';

const work = z.object({ kind: z.literal('copy') });

/** The top rendition as a stream copy of the source, all of it. */
export const COPY: TaskKind<typeof work> = {
  work,
  weight: lightWork,
  makes: (_, { isCopy }) => isCopy,
  mayBeOptional: false,
};
