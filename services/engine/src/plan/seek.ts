import { containerTraits } from '../source/containers.ts';
import type { ProbedSource } from '../source/probe.ts';
import { LastIndex } from './last-index.ts';

/** Seconds by which reading begins before a key frame. An index finds the key frame; a search may miss it. */
const SEEK_MARGINS = { index: 0.0001, search: 1 };

/**
 * Finds where a run must begin to read to have all frames from a second of the source on: before the second-to-last key frame, or before the file
 * (-Infinity). A run that begins at the last key frame may lack frames before it, as with open groups of pictures, and deinterlacing needs frames
 * before the first one. Null if runs must begin with the file.
 */
export function seekPoints({
  container,
  entryPoints,
}: Pick<ProbedSource, 'container' | 'entryPoints'>): ((second: number) => number) | null {
  const { seek } = containerTraits(container);
  if (seek === null || entryPoints === null) return null;
  const index = new LastIndex(entryPoints);
  return (second) => (entryPoints[index.below(second) - 1] ?? Number.NEGATIVE_INFINITY) - SEEK_MARGINS[seek];
}

/** Where runs of a trimmed video begin to read, in seconds of the source; undefined for its beginning. Audio may be before video in the file. */
export function seekOf(
  source: Pick<ProbedSource, 'container' | 'entryPoints' | 'audioAhead'>,
  lead: number,
): number | undefined {
  const found = seekPoints(source)?.(lead - source.audioAhead) ?? 0;
  return found > 0 ? Number(found.toFixed(6)) : undefined;
}
