import type { Packager } from './packager.ts';

/** The name of a file that ffmpeg writes, or a pattern of ffmpeg for such names. */
export function segmentFile(rendition: string, sequence: number | '%d', { extension }: Packager): string {
  return `${rendition}-${sequence}.${extension}`;
}

/** The name of the file to which a run writes an initialization section, if the packaging has them. */
export function initializationFile(rendition: string): string {
  return `${rendition}-init.mp4`;
}

/** The rendition and the number in the name of a segment, as they stand there; null for the name of another file. */
export function readSegmentFile(
  name: string,
  packager: Packager,
): { rendition: string; sequence: string } | null {
  const [, rendition, sequence, extension] = /^([\w-]+)-(\d+)\.(\w+)$/.exec(name) ?? [];
  if (rendition === undefined || sequence === undefined || extension !== packager.extension) return null;
  return { rendition, sequence };
}
