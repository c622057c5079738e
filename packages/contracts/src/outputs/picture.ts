import { z } from 'zod';
import { VIDEO_RENDITIONS } from '../renditions.ts';
import type { DerivationKind, OutputKind } from './kinds.ts';

/** The formats of pictures, by their file extensions. GIF only moves, JPEG only stands still. */
export const PICTURE_FORMATS = ['jpg', 'webp', 'gif'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

/** How the frame is put into a size: the whole frame, the frame with its edges cut, or the whole frame with black bars. */
export const PICTURE_FITS = ['contain', 'cover', 'pad'] as const;
export type PictureFit = (typeof PICTURE_FITS)[number];

/** The name of the picture that is the poster of its video. */
export const POSTER_PICTURE = 'poster';

/** The most bytes of a picture: several times what the largest one needs. */
export const MAX_PICTURE_BYTES = 64 * 1024 ** 2;

/** The name of a picture file in the folder of its try. */
export function pictureFile(format: PictureFormat): string {
  return `picture.${format}`;
}

const pictureResult = z.object({ name: z.string().min(1), bytes: z.int().positive() });
export type PictureResult = z.infer<typeof pictureResult>;

/** A still picture or a short moving one. It is not encrypted. */
export const PICTURE: OutputKind<typeof pictureResult, 'picture' | 'picked_poster'> = {
  result: pictureResult,
  artifacts: ['picture', 'picked_poster'],
  storedFiles: ({ name, bytes }) =>
    name === POSTER_PICTURE ? [{ kind: 'picked_poster', bytes }] : [{ kind: 'picture', name, bytes }],
};

const pixels = z.int().positive();

const pictureDerivation = z.object({
  kind: z.literal('picture'),
  /** Identifies the picture among those of its video. */
  name: z.string().min(1),
  rendition: z.enum(VIDEO_RENDITIONS as [(typeof VIDEO_RENDITIONS)[number]]),
  /** The segments that have its frames. */
  segments: z.object({ first: z.int().nonnegative(), count: z.int().positive() }),
  /** Milliseconds from the first frame of the video: the picture begins with the frame that is shown then. */
  start: z.int().nonnegative(),
  /** Null for a still picture. */
  motion: z.object({ frames: z.int().positive(), framesPerSecond: z.int().positive() }).nullable(),
  format: z.enum(PICTURE_FORMATS),
  width: pixels,
  height: pixels,
  fit: z.enum(PICTURE_FITS),
});
export type PictureWork = z.infer<typeof pictureDerivation>;

/** Makes a picture of frames of a stored rendition. */
export const PICTURE_DERIVATION: DerivationKind<typeof pictureDerivation> = {
  work: pictureDerivation,
  command: 'picture',
  reads: ({ rendition, segments }) => [{ rendition, segments }],
};
