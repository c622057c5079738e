import type { Chapter } from '@framelane/contracts/manifest';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { SourceChapters } from '../source/source-chapters.ts';

/**
 * The chapters of a source with the times of the output. Those outside of it are left out, also those that are over before the output begins; the one
 * that is running then starts at 0. An untitled chapter is named by its number. A single untitled one from the beginning says nothing, so it is left out, too.
 */
export function chaptersOf(
  source: SourceChapters,
  { lead, duration }: Pick<EncodePlan, 'lead' | 'duration'>,
): Chapter[] {
  if (source === 'too_many') return [];
  const shift = Math.round(lead * 1000);
  const moved = source
    .filter(({ start, end }) => end === undefined || end <= start || end > shift)
    .map(({ start, title }) => ({ start: start - shift, title }));
  const running = moved.findLastIndex(({ start }) => start <= 0);
  const shown = moved
    .slice(Math.max(0, running))
    .filter(({ start }) => start < Math.round(duration * 1000))
    .map(({ start, title }, at) => ({ start: Math.max(0, start), title: title || `Chapter ${at + 1}` }));
  const [first, ...others] = shown;
  const isUntitled = source.every(({ title }) => title === '');
  return first?.start === 0 && others.length === 0 && isUntitled ? [] : shown;
}
