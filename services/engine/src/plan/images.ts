import type { Size } from '../source/media-source.ts';

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
/** Ten rows of these stay far below the 65,500 lines that JPEG can have. */
const HIGHEST_TILE = 480;
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
  return {
    posterFrom: Math.min(duration * POSTER_PART, lastFrame),
    storyboard: {
      tile: tileSize(frame),
      ...{ columns, rows: Math.ceil(tiles / columns), tiles, interval },
    },
  };
}

function tileSize(frame: Size): Size {
  const scale = Math.min(TILE_WIDTH / frame.width, HIGHEST_TILE / frame.height);
  const even = (pixels: number) => Math.max(2, 2 * Math.round((pixels * scale) / 2));
  return { width: even(frame.width), height: even(frame.height) };
}
