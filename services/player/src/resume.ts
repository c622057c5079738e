import { keep, readKept } from './kept-values.ts';

/** Where a viewer has left a video, in seconds. `video` is the path of its page. */
export type Position = { video: string; seconds: number };

const KEY = 'framelane.positions';
/** Videos whose positions are kept. */
const MAX_VIDEOS = 100;
/** Closer to an end of the video, the next visit begins at the beginning. */
const MARGIN_SECONDS = 10;
/** The position is stored after this much playback, and when playback stops. */
const STEP_SECONDS = 5;

/** The positions after a viewer has reached `seconds` of a video, newest first. */
export function withPosition(
  positions: readonly Position[],
  { video, seconds }: Position,
  duration: number,
): Position[] {
  const others = positions.filter((each) => each.video !== video);
  const isWithin = seconds >= MARGIN_SECONDS && seconds <= duration - MARGIN_SECONDS;
  return [...(isWithin ? [{ video, seconds: Math.floor(seconds) }] : []), ...others].slice(0, MAX_VIDEOS);
}

/** The positions in a stored value, which anything of the same origin could have written. */
export function positionsIn(value: unknown): Position[] {
  return Array.isArray(value) ? value.filter(isPosition).slice(0, MAX_VIDEOS) : [];
}

function isPosition(value: unknown): value is Position {
  const { video, seconds } = Object(value);
  return typeof video === 'string' && Number.isFinite(seconds) && seconds > 0;
}

/** Where the viewer has left the video, in seconds; 0 if it begins at the beginning. */
export function keptPosition(video: string): number {
  return positionsIn(readKept(KEY)).find((each) => each.video === video)?.seconds ?? 0;
}

/** Stores how far the viewer has come, until `signal` aborts. */
export function keepPosition(media: HTMLMediaElement, video: string, signal: AbortSignal): void {
  let stored = media.currentTime;
  const store = () => {
    const { currentTime: seconds, duration } = media;
    // Before the first playlist, or before the start position is reached, there is nothing to store.
    if (!Number.isFinite(duration) || media.readyState === 0) return;
    stored = seconds;
    keep(KEY, withPosition(positionsIn(readKept(KEY)), { video, seconds }, duration));
  };
  const step = () => {
    if (!media.paused && Math.abs(media.currentTime - stored) >= STEP_SECONDS) store();
  };
  media.addEventListener('timeupdate', step, { signal });
  for (const event of ['pause', 'ended']) media.addEventListener(event, store, { signal });
}
