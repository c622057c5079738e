import { RUNGS } from '@framelane/contracts/renditions';

/** The parts of equal length into which the timeline of a video is divided. */
export const PARTS = 100;

/** The character of a part that was watched. */
const WATCHED = '1'.charCodeAt(0);

/** A stretch of the timeline in seconds, and the short side of the frames that were shown. */
export type WatchedRange = { from: number; to: number; height?: number };

/** Which parts were watched, as PostgreSQL writes bits: of the whole, and of each rung, lowest first. */
export type WatchedParts = { all: string; byRung: string };

/** The short side of the frames of each rung, as in their names. */
const HEIGHTS = RUNGS.map((name) => Number.parseInt(name, 10));

/**
 * The parts of a video that these ranges touch. Ranges beyond its end count for nothing. Without a duration nothing is known. Takes time for
 * at most `PARTS` parts of each range.
 */
export function watchedParts(ranges: readonly WatchedRange[], duration: number | null): WatchedParts {
  const all = Buffer.alloc(PARTS, '0');
  const byRung = Buffer.alloc(PARTS * RUNGS.length, '0');
  for (const { from, to, height } of duration === null || duration <= 0 ? [] : ranges) {
    const part = (seconds: number) => (seconds / (duration as number)) * PARTS;
    const end = Math.min(PARTS, Math.ceil(part(to)));
    const start = Math.min(end, Math.max(0, Math.floor(part(from))));
    all.fill(WATCHED, start, end);
    if (height === undefined) continue;
    const rung = nearestRung(height) * PARTS;
    byRung.fill(WATCHED, rung + start, rung + end);
  }
  return { all: all.toString('latin1'), byRung: byRung.toString('latin1') };
}

/** The index of the rung whose frames have about this height. The frames of a rung can be some pixels smaller than its name says. */
function nearestRung(height: number): number {
  let nearest = 0;
  for (const [rung, each] of HEIGHTS.entries()) {
    if (Math.abs(each - height) < Math.abs((HEIGHTS[nearest] ?? 0) - height)) nearest = rung;
  }
  return nearest;
}
