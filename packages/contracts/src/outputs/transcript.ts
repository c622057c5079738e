import { z } from 'zod';
import { AUDIO_RENDITIONS } from '../renditions.ts';
import type { DerivationKind, OutputKind } from './kinds.ts';

/** The largest WebVTT file of a transcript in bytes, as of captions that clients send. */
export const MAX_TRANSCRIPT_BYTES = 2 * 1024 ** 2;

/** The language that a client named, canonical BCP 47; empty if the recogniser is to detect it. */
const requested = z.string().max(35);

const transcriptResult = z.object({
  requested,
  /** The language of the text, canonical BCP 47. */
  language: z.string().min(2).max(35),
  /** WebVTT; empty if nobody speaks. */
  webvtt: z.string().max(MAX_TRANSCRIPT_BYTES),
  /** Seconds of sound that were recognised. */
  seconds: z.number().nonnegative(),
});
export type TranscriptResult = z.infer<typeof transcriptResult>;

/** What is said in a video, which becomes captions. The database stores it, so it has no files. */
export const TRANSCRIPT: OutputKind<typeof transcriptResult, never> = {
  result: transcriptResult,
  artifacts: [],
  storedFiles: () => [],
};

const transcriptDerivation = z.object({
  kind: z.literal('transcript'),
  requested,
  /** The audio that is recognised. */
  rendition: z.enum(AUDIO_RENDITIONS),
});
export type TranscriptWork = z.infer<typeof transcriptDerivation>;

/** Recognises speech. */
export const TRANSCRIPT_DERIVATION: DerivationKind<typeof transcriptDerivation> = {
  work: transcriptDerivation,
  command: 'transcribe',
  reads: ({ rendition }) => [{ rendition }],
};
