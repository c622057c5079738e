import { PACKAGER } from './packagers.ts';

/** The name of a file that ffmpeg writes, or a pattern of ffmpeg for such names. */
export function segmentFile(rendition: string, sequence: number | '%d'): string {
  return `${rendition}-${sequence}.${PACKAGER.extension}`;
}

/** The rendition and the number in the name of a segment, as they stand there; null for the name of another file. */
export function readSegmentFile(name: string): { rendition: string; sequence: string } | null {
  const [, rendition, sequence, extension] = /^([\w-]+)-(\d+)\.(\w+)$/.exec(name) ?? [];
  if (rendition === undefined || sequence === undefined || extension !== PACKAGER.extension) return null;
  return { rendition, sequence };
}
