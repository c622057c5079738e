/** A chapter: when it begins, in milliseconds from the first frame, and its title as plain text. */
export type Chapter = { start: number; title: string };

/** A chapter with the seconds from its start to the start of the next one, or to the end of the video. */
export type TimedChapter = { start: number; end: number; title: string };

/** The last chapter lasts this many milliseconds while the duration of the video is not known. */
const UNKNOWN_LENGTH = 1000;

/**
 * Chapters, by their start, with their ends. Leaves out those that begin at or after the end of the video: they were set before its duration
 * was known. `duration` is in seconds; null if it is not known.
 */
export function timedChapters(chapters: readonly Chapter[], duration: number | null): TimedChapter[] {
  const end = duration === null ? Number.POSITIVE_INFINITY : Math.round(duration * 1000);
  const shown = chapters.filter(({ start }) => start < end);
  return shown.map(({ start, title }, at) => {
    const next = shown[at + 1]?.start ?? (Number.isFinite(end) ? end : start + UNKNOWN_LENGTH);
    return { start: start / 1000, end: next / 1000, title };
  });
}
