import { z } from 'zod';
import { RENDITIONS } from './renditions.ts';

const segment = z.object({
  /** Seconds, as the timestamps of the segment say. */
  duration: z.number().positive(),
  /** Size of the ciphertext in storage. */
  bytes: z.int().positive(),
});
export type Segment = z.infer<typeof segment>;

const renditionManifest = z.object({
  name: z.enum(RENDITIONS),
  /** RFC 6381 string read from the first segment, e.g. `avc1.64001f` or `mp4a.40.2`. */
  codecs: z.string().min(1),
  /** Pixels after cropping; null for audio. */
  width: z.int().positive().nullable(),
  height: z.int().positive().nullable(),
  /** Frames a second; null for audio. */
  frameRate: z.number().positive().nullable(),
  /** Channels and BCP 47 language; null for video and where the source names none. */
  channels: z.int().positive().nullable(),
  language: z.string().nullable(),
  /** In play order; segment n is stored as `<rendition>/<n>.ts`. */
  segments: z.array(segment).min(1),
});
export type RenditionManifest = z.infer<typeof renditionManifest>;

/** A repair the engine made to fit the source to the ladder, e.g. `interlaced`. */
const inputIssue = z.object({ code: z.string(), message: z.string() });
export type InputIssue = z.infer<typeof inputIssue>;

/** What the probe found out about the uploaded file. */
const sourceFacts = z.object({
  container: z.string(),
  videoCodec: z.string(),
  audioCodec: z.string().nullable(),
  /** Pixels of the display frame: rotation and pixel aspect applied. */
  width: z.int().positive(),
  height: z.int().positive(),
  frameRate: z.number().positive(),
  /** Seconds. */
  duration: z.number().positive(),
});
export type SourceFacts = z.infer<typeof sourceFacts>;

/** A picture in JPEG: its size in storage. It is not encrypted. */
const image = z.object({ bytes: z.int().positive() });

/** Small pictures of the video in one large one, row by row from the upper left. */
const storyboard = image.extend({
  /** Pixels of one of them. */
  width: z.int().positive(),
  height: z.int().positive(),
  columns: z.int().positive(),
  tiles: z.int().positive(),
  /** Seconds from one to the next. */
  interval: z.number().positive(),
});
export type Storyboard = z.infer<typeof storyboard>;

/** The whole result of one transcode attempt: everything the control plane needs to serve the video. */
export const manifestSchema = z.object({
  source: sourceFacts,
  /** Seconds of the delivered video. */
  duration: z.number().positive(),
  inputIssues: z.array(inputIssue),
  /** Video rungs lowest first, then audio if there is any. */
  renditions: z.array(renditionManifest).min(1),
  /** A still, stored as `poster.jpg`, and `storyboard.jpg`; null when there is none. */
  poster: image.nullable().default(null),
  storyboard: storyboard.nullable().default(null),
});
export type Manifest = z.infer<typeof manifestSchema>;
