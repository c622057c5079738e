import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import type { Chapter } from '../playback/timed-chapters.ts';

/**
 * The chapters of a request, which the contract has validated, by their start. Throws 400 `validation_failed` if two begin in the same
 * millisecond, or one at or after the end of the video. `duration` is in seconds; null if it is not known.
 */
export function requestedChapters(
  { chapters }: components['schemas']['ChaptersRequest'],
  duration: number | null,
): Chapter[] {
  const requested = chapters.map(({ start, title }, index) => {
    return { index, start: Math.round(start * 1000), title: title.trim() };
  });
  const sorted = requested.toSorted((a, b) => a.start - b.start || a.index - b.index);
  for (const [at, { index, start }] of sorted.entries()) {
    const field = `body/chapters/${index}/start`;
    if (start === sorted[at - 1]?.start) {
      throw invalidField(field, 'unique', 'is the start of another chapter, too');
    }
    if (duration !== null && start >= Math.round(duration * 1000)) {
      throw invalidField(
        field,
        'out_of_range',
        `must be before the end of the video, at ${duration} seconds`,
      );
    }
  }
  return sorted.map(({ start, title }) => ({ start, title }));
}
