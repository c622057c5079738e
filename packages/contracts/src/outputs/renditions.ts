import { z } from 'zod';
import { RENDITIONS } from '../renditions.ts';
import type { OutputKind } from './kinds.ts';

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
  /** The number of the first of these segments. */
  first: z.int().nonnegative(),
  segments: z.array(storedSegment).min(1).readonly(),
});
export type StoredRendition = z.infer<typeof storedRendition>;

const renditionsResult = z.array(storedRendition).readonly();

/** The renditions whose first segment is stored, with their RFC 6381 codecs. */
export const startedRenditionsSchema = z.partialRecord(z.enum(RENDITIONS), z.string().min(1));
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
