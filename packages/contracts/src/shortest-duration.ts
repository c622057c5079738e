/** The shortest duration of a video, in seconds. */
export const MIN_DURATION_SECONDS = 0.1;

/** Differences of decimal numbers are not exact. */
const ROUNDING_SECONDS = 1e-6;

/** Whether a part of a video is shorter than a number of seconds, by default than the shortest video. */
export function isShorter(seconds: number, than: number = MIN_DURATION_SECONDS): boolean {
  return seconds < than - ROUNDING_SECONDS;
}
