import type { Chapter } from '../playback/timed-chapters.ts';

/**
 * The chapters of a clip between two times of a video. The one that has begun before begins with the clip. All times are in milliseconds, and chapters
 * are by their start.
 */
export function cutChapters(
  chapters: readonly Chapter[],
  { from, to }: { from: number; to: number },
): Chapter[] {
  const first = Math.max(
    0,
    chapters.findLastIndex(({ start }) => start <= from),
  );
  return chapters
    .slice(first)
    .filter(({ start }) => start < to)
    .map(({ start, title }) => ({ start: Math.max(start, from) - from, title }));
}
