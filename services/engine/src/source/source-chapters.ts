import { MAX_CHAPTER_TITLE, MAX_CHAPTERS } from '@framelane/contracts/manifest';
import { z } from 'zod';

/**
 * A chapter as the container has it: milliseconds from the earliest timestamp of the file, and the end if the container has one. An empty title is
 * unknown.
 */
export type SourceChapter = { start: number; end?: number; title: string };

/** The chapters of a file by their start, which is unique; or that it has more than a video can have. */
export type SourceChapters = readonly SourceChapter[] | 'too_many';

/** The ffprobe entries that `readChapters` reads. */
export const CHAPTER_ENTRIES = 'chapter=start_time,end_time:chapter_tags=title';

/** Maximum number of characters of these entries: more than 500 chapters with the longest titles have. */
export const MAX_CHAPTER_CHARS = 256 * 1024;

export const probedChapters = z
  .array(
    z.object({
      start_time: z.coerce.number().catch(Number.NaN),
      end_time: z.coerce.number().catch(Number.NaN),
      tags: z.object({ title: z.string().optional() }).default({}),
    }),
  )
  .default([]);

/**
 * Reads ffprobe's list. Of chapters that begin at the same time, the one that ends last counts: ffmpeg writes an untitled chapter into an MP4 as
 * a second one of no duration. `startTime` is the earliest timestamp of the file in seconds.
 */
export function readChapters(probed: z.infer<typeof probedChapters>, startTime: number): SourceChapters {
  const byStart = new Map<number, SourceChapter>();
  for (const { start_time, end_time, tags } of probed) {
    const [start, end] = [start_time, end_time].map((time) => Math.round((time - startTime) * 1000)) as [
      number,
      number,
    ];
    if (!Number.isSafeInteger(start) || (byStart.get(start)?.end ?? 0) > end) continue;
    byStart.set(start, {
      start,
      ...(Number.isSafeInteger(end) && { end }),
      title: plainTitle(tags.title ?? ''),
    });
  }
  if (byStart.size > MAX_CHAPTERS) return 'too_many';
  return [...byStart.values()].toSorted((a, b) => a.start - b.start);
}

/** A title on one line. Bidirectional formatting characters would reverse the text around it. */
function plainTitle(title: string): string {
  const text = title.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Cs}]+/gu, ' ').trim();
  return [...text].slice(0, MAX_CHAPTER_TITLE).join('').trim();
}
