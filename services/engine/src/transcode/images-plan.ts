import type { Size } from './ladder.ts';

/** The still picture and the small pictures for the seek bar that are made beside the rungs. */
export type ImagesPlan = {
  /** Seconds from which on the still picture is looked for. */
  posterFrom: number;
  storyboard: {
    /** Pixels of one small picture. */
    tile: Size;
    /** How they are laid out in one large picture, row by row. */
    columns: number;
    rows: number;
    tiles: number;
    /** Whole seconds from one to the next. */
    interval: number;
  };
};

const POSTER_PART = 0.1;
const TILE_WIDTH = 160;
const MOST_TILES = 100;
const COLUMNS = 10;

/**
 * @param frame size of a rung; all have the same shape
 * @param lastFrame seconds at which the last frame is shown
 */
export function planImages(frame: Size, duration: number, lastFrame: number): ImagesPlan {
  const interval = Math.max(1, Math.ceil(duration / MOST_TILES));
  const tiles = Math.floor(lastFrame / interval) + 1;
  const columns = Math.min(COLUMNS, tiles);
  const height = Math.max(2, 2 * Math.round((TILE_WIDTH * frame.height) / frame.width / 2));
  return {
    posterFrom: Math.min(duration * POSTER_PART, lastFrame),
    storyboard: {
      tile: { width: TILE_WIDTH, height },
      ...{ columns, rows: Math.ceil(tiles / columns), tiles, interval },
    },
  };
}
