import { z } from 'zod';

/** The file that describes an exported video, in the folder of the video. */
export const EXPORTED_VIDEO_FILE = 'video.json';

/** A name in the folder of the video: never a path out of it. */
const name = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !/[/\\\0]/.test(text) && text !== '.' && text !== '..', 'must be the name of a file');
const file = z.object({ name, bytes: z.number().int().nonnegative() });

/** The content of `video.json`. */
export const exportedVideo = z.object({
  format: z.literal('framelane-video'),
  version: z.literal(1),
  /** The record of the API, as it was. `import-library` reads only these fields. */
  record: z.looseObject({
    id: z.string().min(1),
    title: z.string(),
    filename: z.string(),
    tags: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
    passthrough: z.string().nullish(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    playbackPolicy: z.enum(['public', 'signed']),
    allowedOrigins: z.array(z.string()).nullish(),
    keepSource: z.union([z.literal('always'), z.literal('never'), z.number()]).optional(),
    audioOnly: z.boolean().nullish(),
    trim: z.object({ start: z.number(), end: z.number().nullish() }).nullish(),
    watermark: z.unknown().optional(),
    /** Not null if the owner has set the poster: otherwise it is a frame of the video. */
    poster: z.unknown().optional(),
    readyAt: z.string().nullish(),
  }),
  files: z.object({
    source: file.optional(),
    /** The renditions, the best one first. */
    downloads: z.array(file.extend({ file: z.string() })),
    captions: z.array(file.extend({ language: z.string(), label: z.string(), default: z.boolean() })),
    chapters: file.optional(),
    poster: file.optional(),
  }),
});

export type ExportedVideo = z.infer<typeof exportedVideo>;
