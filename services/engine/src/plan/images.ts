import type { ImagesPlan } from '@framelane/contracts/outputs/images';
import type { Size } from '../source/media-source.ts';

const POSTER_FRACTION = 0.1;
const TILE_WIDTH = 160;
/** Ten rows of this height have far fewer than the 65,500 lines that ffmpeg's JPEG encoder allows. */
const MAX_TILE_HEIGHT = 480;
const MAX_TILES = 100;
const COLUMNS = 10;

/**
 * @param frame size of any rendition; all have the same aspect ratio
 * @param lastFrame the second at which the last frame is shown
 */
export function planImages(frame: Size, duration: number, lastFrame: number): ImagesPlan {
  const interval = Math.max(1, Math.ceil(duration / MAX_TILES));
  const tiles = Math.floor(lastFrame / interval) + 1;
  const columns = Math.min(COLUMNS, tiles);
  return {
    posterFrom: Math.min(duration * POSTER_FRACTION, lastFrame),
    storyboard: {
      tile: tileSize(frame),
      columns,
      rows: Math.ceil(tiles / columns),
      tiles,
      interval,
    },
  };
}

function tileSize(frame: Size): Size {
  const scale = Math.min(TILE_WIDTH / frame.width, MAX_TILE_HEIGHT / frame.height);
  const even = (pixels: number) => Math.max(2, 2 * Math.round((pixels * scale) / 2));
  return { width: even(frame.width), height: even(frame.height) };
}
