import { z } from 'zod';
import { lightWork, type TaskKind } from './kinds.ts';

const work = z.object({
  kind: z.literal('images'),
  /** Whether only key frames are decoded, because they are close enough to each other. */
  keyFramesOnly: z.boolean(),
});

/** The poster and the storyboard. */
export const IMAGES_TASK: TaskKind<typeof work> = { work, weight: lightWork, mayBeOptional: true };
