/** A touch of the video. `x` and `y` are in pixels, `time` is in milliseconds. */
export type Touch = { x: number; y: number; time: number };

/** Seconds that a double tap seeks. */
const TAP_SECONDS = 10;
/** Between the two taps. */
const DOUBLE_TAP_MS = 300;
/** Between the places of the two taps, in pixels. */
const DOUBLE_TAP_DISTANCE = 48;
/** A finger that moves less is a tap. */
const SWIPE_MIN_DISTANCE = 24;
/** Seconds that a swipe across the whole player seeks. */
const SWIPE_SECONDS = 120;

/** The seconds that a second tap seeks: back in the left third of the player, forward in the right one; undefined if it is no double tap. */
export function doubleTapSeconds(first: Touch | undefined, second: Touch, width: number): number | undefined {
  if (first === undefined || second.time - first.time > DOUBLE_TAP_MS) return undefined;
  if (Math.hypot(second.x - first.x, second.y - first.y) > DOUBLE_TAP_DISTANCE) return undefined;
  if (second.x < width / 3) return -TAP_SECONDS;
  return second.x > (width * 2) / 3 ? TAP_SECONDS : undefined;
}

/** The seconds that a swipe seeks; undefined for a tap, and for a finger that moves up or down: it scrolls the page around the player. */
export function swipeSeconds(from: Touch, to: Touch, width: number): number | undefined {
  const [across, along] = [to.x - from.x, to.y - from.y];
  if (Math.abs(across) < SWIPE_MIN_DISTANCE || Math.abs(across) < 2 * Math.abs(along)) return undefined;
  return Math.round((across / width) * SWIPE_SECONDS);
}

/** How far a gesture seeks, in words. */
export function seekWords(seconds: number): string {
  return `${seconds < 0 ? '−' : '+'}${Math.abs(seconds)} s`;
}
