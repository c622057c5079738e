import { formatDuration } from '../ui/format.ts';

/** The middle of each of `count` equal parts of a video, in seconds. */
export function middles(count: number, duration: number): number[] {
  return Array.from({ length: count }, (_, at) => ((at + 0.5) * duration) / count);
}

/** What each of `count` equal parts of a video includes, such as `0:36–0:72`. */
export function partNames(count: number, duration: number): string[] {
  const time = (at: number) => formatDuration((at * duration) / count);
  return Array.from({ length: count }, (_, at) =>
    time(at) === time(at + 1) ? time(at) : `${time(at)}–${time(at + 1)}`,
  );
}

/** The tile that shows the middle of a part. A storyboard has its tiles at equal distances. */
export function tileAt<Tile>(tiles: readonly Tile[], part: number, count: number): Tile | undefined {
  return tiles[Math.floor(((part + 0.5) * tiles.length) / count)];
}

/** How far apart two parts are that say where viewers leave: a tenth of the video. */
export const TENTHS = 10;

/** The share of the views that include each tenth of the video: the one at its beginning. */
export function byTenth(retention: readonly number[]): number[] {
  return Array.from(
    { length: TENTHS },
    (_, at) => retention[Math.floor((at * retention.length) / TENTHS)] ?? 0,
  );
}
