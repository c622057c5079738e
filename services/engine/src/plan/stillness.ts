import type { PictureChanges } from '../source/change-scan.ts';

/**
 * Pictures a second up to which video is still: slides, screen recordings, a fixed camera in an empty room. Films and speakers have one to ten (ADR 86).
 * With a key frame every two seconds, at least half of the bits of still video would be key frames.
 */
const STILL_RATE = 0.5;

/** The change of so many seconds may come at once: players have as much in their buffers. */
const WINDOW_SECONDS = 30;

/** A part of a video, in seconds from the earliest timestamp of the file. */
type Part = { from: number; to: number };

/** Whether a part of a video is still. */
export function isStill(changes: PictureChanges, { from, to }: Part): boolean {
  let pictures = 0;
  for (let second = Math.floor(from); second < to; second += 1) pictures += changes.get(second) ?? 0;
  return pictures <= STILL_RATE * (to - from);
}

/** Whether a part of a video is still all the time: in each window of 30 seconds of it. */
export function isStillThroughout(changes: PictureChanges, { from, to }: Part): boolean {
  const allowed = STILL_RATE * Math.min(WINDOW_SECONDS, to - from);
  const ascending = [...changes]
    .filter(([second]) => second >= Math.floor(from) && second < to)
    .sort(([a], [b]) => a - b);
  let first = 0;
  let pictures = 0;
  return ascending.every(([second, changed]) => {
    pictures += changed;
    for (; (ascending[first]?.[0] ?? second) <= second - WINDOW_SECONDS; first += 1) {
      pictures -= ascending[first]?.[1] ?? 0;
    }
    return pictures <= allowed;
  });
}
