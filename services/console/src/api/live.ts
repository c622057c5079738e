import type { Schemas } from '@framelane/client';

/** Milliseconds between requests while something that the page shows moves, and otherwise. */
const MOVING_MS = 2_000;
const RESTING_MS = 15_000;

/** Milliseconds until data are asked for again. A hidden tab does not ask; it asks at once when it is shown. */
export function pollWhile(isMoving: boolean): number {
  return isMoving ? MOVING_MS : RESTING_MS;
}

/** Milliseconds until videos are asked for again. */
export function pollAfter(videos: readonly Pick<Schemas['Video'], 'status'>[]): number {
  return pollWhile(videos.some(({ status }) => status === 'uploading' || status === 'processing'));
}
