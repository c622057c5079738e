import { z } from 'zod';
import { initializationSection } from './outputs/renditions.ts';
import { AUDIO_ROLES, RENDITIONS } from './renditions.ts';

const segment = z.object({
  /** Seconds, by the timestamps of the segment. */
  duration: z.number().positive(),
  /** Size of the stored ciphertext. */
  bytes: z.int().positive(),
});
export type Segment = z.infer<typeof segment>;

/** High dynamic range, by the values of `VIDEO-RANGE` (draft-pantos-hls-rfc8216bis §4.4.6.2). */
export const VIDEO_RANGES = ['PQ', 'HLG'] as const;
export type VideoRange = (typeof VIDEO_RANGES)[number];

const renditionManifest = z.object({
  name: z.enum(RENDITIONS),
  /** RFC 6381 codec string of all segments, e.g. `avc1.64001f` or `mp4a.40.2`. */
  codecs: z.string().min(1),
  /** Pixels after cropping; null for audio. */
  width: z.int().positive().nullable(),
  height: z.int().positive().nullable(),
  /** Frames per second; null for audio and for I-frames. */
  frameRate: z.number().positive().nullable(),
  /** Absent for audio and for standard range. */
  videoRange: z.enum(VIDEO_RANGES).optional(),
  /** Null for video. */
  channels: z.int().positive().nullable(),
  /** BCP 47; null for video, and if the source has no language tag. */
  language: z.string().nullable(),
  /** The name of the audio in players, unique among the audio renditions. Absent for video. */
  label: z
    .string()
    .regex(/^[^"\p{Cc}]{1,100}$/u)
    .optional(),
  /** Absent for video and for ordinary audio. */
  role: z.enum(AUDIO_ROLES).optional(),
  /** The initialization section of all segments. Absent if each segment has its own. */
  initialization: initializationSection.optional(),
  /** In playback order. Segment n is stored as `<rendition>/<n>.<extension>`, with that of the packaging. */
  segments: z.array(segment).min(1),
});
export type RenditionManifest = z.infer<typeof renditionManifest>;

/** Something the engine changed about the source, e.g. `interlaced`. The message is for the owner of the video. */
export const inputIssue = z.object({ code: z.string(), message: z.string() });
export type InputIssue = z.infer<typeof inputIssue>;

/** Properties of the uploaded file, as probed. */
export const sourceFacts = z.object({
  container: z.string(),
  /** Null for sound alone. */
  videoCodec: z.string().nullable(),
  audioCodec: z.string().nullable(),
  /** Pixels of the displayed frame, after rotation and with square pixels; null for sound alone. */
  width: z.int().positive().nullable(),
  height: z.int().positive().nullable(),
  frameRate: z.number().positive().nullable(),
  /** Seconds. */
  duration: z.number().positive(),
});

/** A text track of the source. */
export const captionsTrack = z.object({
  /** BCP 47 and the title of the track; null if the source does not name them. */
  language: z.string().nullable(),
  label: z.string().nullable(),
  /** As `@framelane/captions` writes it. */
  webvtt: z.string(),
});
export type CaptionsTrack = z.infer<typeof captionsTrack>;

/** A chapter of the source. Chapters are sorted by their start, and no two start together. */
export const chapter = z.object({
  /** Milliseconds from the first frame. */
  start: z.int().nonnegative(),
  title: z.string().min(1),
});
export type Chapter = z.infer<typeof chapter>;

/** The most chapters of a video, and the most characters of a title. */
export const MAX_CHAPTERS = 500;
export const MAX_CHAPTER_TITLE = 255;

/** Units of timestamps in transport streams, per second (ISO/IEC 13818-1 §2.4.3.7). */
export const CLOCK_HZ = 90_000;

/** The result of a completed attempt: everything the control plane needs for playback. */
export const manifestSchema = z.object({
  source: sourceFacts,
  /** Seconds of the delivered video. */
  duration: z.number().positive(),
  inputIssues: z.array(inputIssue),
  /** Video renditions, lowest first, then those of the audio tracks, the default one first. */
  renditions: z.array(renditionManifest).min(1),
  /** I-frames of the lowest video rendition, each a segment. Absent if they are not stored. */
  iFrames: renditionManifest.optional(),
  /** Text tracks in the order of the source. */
  captions: z.array(captionsTrack),
  chapters: z.array(chapter).max(MAX_CHAPTERS),
  /** The timestamp of the first frame in the segments, in units of 1/90,000 s. */
  startTimestamp: z.int().nonnegative(),
});
export type Manifest = z.infer<typeof manifestSchema>;
