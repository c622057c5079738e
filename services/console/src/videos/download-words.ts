import type { Schemas, Video } from '@framelane/client';
import { formatBytes } from '../ui/format.ts';

type Download = Schemas['Download'];

/** What people call a file. */
export function downloadName(file: Download['file']): string {
  if (file === 'highest') return 'Video, highest quality (MP4)';
  return file === 'audio' ? 'Audio (M4A)' : `Video, ${file} (MP4)`;
}

/** The state of a file. */
export function downloadWords({ status, bytes, error }: Download): string {
  if (error !== null) return error.message;
  return status === 'ready' && bytes !== null ? formatBytes(bytes) : 'Being prepared';
}

/** The files that a ready video can have and does not have, or that could not be prepared. */
export function choicesOf({ variants = [], audioTracks = [], downloads }: Video): Download['file'][] {
  const existing = new Set(downloads.filter(({ error }) => error === null).map(({ file }) => file));
  const possible: Download['file'][] = [
    ...(variants.length > 0 ? (['highest'] as const) : []),
    ...(audioTracks.length > 0 ? (['audio'] as const) : []),
    ...variants.toReversed(),
  ];
  return possible.filter((file) => !existing.has(file));
}
