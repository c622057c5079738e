import { z } from 'zod';
import { RENDITIONS } from '../renditions.ts';
import type { OutputKind } from './kinds.ts';

/**
 * What decoders need before the first segment of a rendition, in base64: the MP4 header. It is public, so it must not contain anything
 * of the content.
 */
export const initializationSection = z.base64().min(1).max(8192);

/** A stored segment. */
const storedSegment = z.object({
  /** Timestamp of the first access unit, in seconds. */
  start: z.number(),
  /** Size of the stored ciphertext. */
  bytes: z.int().positive(),
});

/** Some or all segments of a rendition, in order. */
const storedRendition = z.object({
  name: z.enum(RENDITIONS),
  /** RFC 6381 codec string of all these segments. */
  codecs: z.string().min(1),
  /** Absent if the packaging has none. */
  initialization: initializationSection.optional(),
  /** The number of the first of these segments. */
  first: z.int().nonnegative(),
  segments: z.array(storedSegment).min(1).readonly(),
});
export type StoredRendition = z.infer<typeof storedRendition>;

const renditionsResult = z.array(storedRendition).readonly();

/** What players have to know of a rendition before its first segment. */
const startedRendition = storedRendition.pick({ codecs: true, initialization: true });
export type StartedRendition = z.infer<typeof startedRendition>;

/** The renditions whose first segment is stored. */
export const startedRenditionsSchema = z.partialRecord(z.enum(RENDITIONS), startedRendition);
export type StartedRenditions = z.infer<typeof startedRenditionsSchema>;

/** The HLS renditions: video, audio and I-frames, in encrypted segments. */
export const RENDITIONS_OUTPUT: OutputKind<typeof renditionsResult, 'segments'> = {
  result: renditionsResult,
  artifacts: ['segments'],
  storedFiles: (renditions) =>
    renditions.map(({ name, first, segments }) => ({
      kind: 'segments',
      name,
      firstSegment: first,
      bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    })),
};
