import type { Schemas } from '@framelane/client';

/** Milliseconds between polls: while something on the page is in progress, and otherwise. */
const MOVING_MS = 2_000;
const RESTING_MS = 15_000;

/** Milliseconds until the next poll. A hidden tab does not poll; it polls at once when it is shown. */
export function pollWhile(isMoving: boolean): number {
  return isMoving ? MOVING_MS : RESTING_MS;
}

/** Milliseconds until the next poll of videos. */
export function pollAfter(videos: readonly Pick<Schemas['Video'], 'status'>[]): number {
  return pollWhile(videos.some(({ status }) => status === 'uploading' || status === 'processing'));
}
