import { z } from 'zod';
import { lightWork, type OutputKind, type TaskKind } from './kinds.ts';

/** The poster, and the storyboard: small images for the seek bar, all in one large image. */
export const imagesPlan = z.object({
  /** The poster is taken at or after this second. */
  posterFrom: z.number(),
  /** The poster of sound alone, and its size in pixels. Absent for a video, whose poster is one of its frames. */
  ofSound: z
    .object({
      /** The track of the cover picture; null if the poster is a waveform of the first audio track. */
      cover: z.int().nonnegative().nullable(),
      width: z.int().positive(),
      height: z.int().positive(),
    })
    .optional(),
  /** Null for sound alone. */
  storyboard: z
    .object({
      /** Size of one small image in pixels. */
      tile: z.object({ width: z.int().positive(), height: z.int().positive() }),
      /** The layout of the large image, filled row by row. */
      columns: z.int().positive(),
      rows: z.int().positive(),
      tiles: z.int().positive(),
      /** Whole seconds between two small images. */
      interval: z.int().positive(),
    })
    .nullable(),
});
export type ImagesPlan = z.infer<typeof imagesPlan>;

/** A stored JPEG image. It is not encrypted. */
export const image = z.object({ bytes: z.int().positive() });

/** Small images of the video in one large image, row by row from the upper left. */
export const storyboard = image.extend({
  /** Size of one small image in pixels. */
  width: z.int().positive(),
  height: z.int().positive(),
  columns: z.int().positive(),
  tiles: z.int().positive(),
  /** Seconds between two small images. */
  interval: z.number().positive(),
});
export type Storyboard = z.infer<typeof storyboard>;

/** An image is null if it could not be made. */
const imagesResult = z.object({ poster: image.nullable(), storyboard: storyboard.nullable() });
export type ImagesResult = z.infer<typeof imagesResult>;

/** The poster and the storyboard. */
export const IMAGES: OutputKind<typeof imagesResult, 'poster' | 'storyboard'> = {
  result: imagesResult,
  artifacts: ['poster', 'storyboard'],
  storedFiles: (images) =>
    (['poster', 'storyboard'] as const).flatMap((kind) => {
      const bytes = images[kind]?.bytes;
      return bytes === undefined ? [] : [{ kind, bytes }];
    }),
};

const imagesTask = z.object({
  kind: z.literal('images'),
  /** Whether only key frames are decoded, because they are close enough to each other. */
  keyFramesOnly: z.boolean(),
});

/** The task that makes them for a long video. */
export const IMAGES_TASK: TaskKind<typeof imagesTask> = {
  work: imagesTask,
  // Decoding and scaling all frames takes about a third of the time of encoding them (measured: 0.17 to 0.30).
  weight: (work, frames) => (work.keyFramesOnly ? lightWork(work, frames) : Math.ceil(0.3 * frames)),
  makes: () => false,
  mayBeOptional: true,
};
