import { z } from 'zod';
import { RUNGS, TRACK_RENDITIONS } from '../renditions.ts';
import type { DerivationKind, OutputKind } from './kinds.ts';

/** The files that can be asked for: a rung, the highest one that the video has, or its audio alone. */
export const DOWNLOADS = [...RUNGS, 'highest', 'audio'] as const;
export type DownloadName = (typeof DOWNLOADS)[number];

/** The extension of a file. */
export function downloadExtension(name: DownloadName): 'mp4' | 'm4a' {
  return name === 'audio' ? 'm4a' : 'mp4';
}

const downloadName = z.enum(DOWNLOADS);

const downloadResult = z.object({ name: downloadName, bytes: z.int().positive() });
export type DownloadResult = z.infer<typeof downloadResult>;

/** A file that people download: MP4 with one video rendition, or M4A. It is not encrypted. */
export const DOWNLOAD: OutputKind<typeof downloadResult, 'download'> = {
  result: downloadResult,
  artifacts: ['download'],
  storedFiles: ({ name, bytes }) => [{ kind: 'download', name, bytes }],
};

const downloadDerivation = z.object({
  kind: z.literal('download'),
  name: downloadName,
  /** At most one video rendition, then the audio renditions in the order of the tracks of the file. */
  renditions: z.array(z.enum(TRACK_RENDITIONS)).min(1),
  /** The title inside the file. */
  title: z.string(),
  /** The chapters inside the file, by increasing start in seconds. Each lasts until the next one. */
  chapters: z.array(z.object({ start: z.number().nonnegative(), title: z.string() })),
});
export type DownloadWork = z.infer<typeof downloadDerivation>;

/** Puts stored renditions into one file, without encoding them again. */
export const DOWNLOAD_DERIVATION: DerivationKind<typeof downloadDerivation> = {
  work: downloadDerivation,
  command: 'derive',
  reads: ({ renditions }) => renditions.map((rendition) => ({ rendition })),
};
