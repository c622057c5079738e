import { z } from 'zod';

/** The part of its file that a video has, in seconds from the first frame of the video that the whole file would become. */
export const trimSchema = z.object({
  start: z.number().nonnegative(),
  /** Null: the end of the file. */
  end: z.number().positive().nullable(),
});
export type Trim = z.infer<typeof trimSchema>;
