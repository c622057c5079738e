import { VIDEO_RENDITIONS, type VideoRendition } from '@framelane/contracts/renditions';
import type { Rung } from '@framelane/contracts/transcode-plan';
import type { Size } from '../source/media-source.ts';

/** Maximum bit rate of each rendition at up to 30 frames per second, in bits per second. */
export type MaxRates = Readonly<Record<VideoRendition, number>>;

export const DEFAULT_MAX_RATES: MaxRates = {
  '360p': 800_000,
  '480p': 1_400_000,
  '720p': 2_800_000,
  '1080p': 5_000_000,
};

/** Video with more frames per second counts as fast. */
const FAST_RATE = 30;

/**
 * The short side in pixels. For fast video: the factor of the maximum bit rate, and whether the rung has half the frame rate
 * unless it is the highest one (HLS authoring specification, table of H.264 variants).
 */
const RUNGS: Record<VideoRendition, { shortSide: number; fastFactor: number; halvesRate: boolean }> = {
  '360p': { shortSide: 360, fastFactor: 1, halvesRate: true },
  '480p': { shortSide: 480, fastFactor: 1, halvesRate: true },
  '720p': { shortSide: 720, fastFactor: 1.4, halvesRate: false },
  '1080p': { shortSide: 1080, fastFactor: 1.4, halvesRate: false },
};

/**
 * The ladder for a video, lowest rung first. A rung is named after the short side of the displayed frame, so that portrait
 * video gets the same quality as landscape. No video is enlarged: one below the lowest rung keeps its size. The highest rung
 * always has the full frame rate.
 *
 * @param display the size as shown: rotated, with square pixels
 */
export function planLadder(display: Size, framesPerSecond: number, maxRates = DEFAULT_MAX_RATES): Rung[] {
  const shortSide = Math.min(display.width, display.height);
  const isFast = framesPerSecond > FAST_RATE;
  const names = VIDEO_RENDITIONS.filter((name) => RUNGS[name].shortSide <= shortSide);
  const top = names.at(-1) ?? '360p';
  const rung = (name: VideoRendition, size: Size): Rung => {
    const { fastFactor, halvesRate } = RUNGS[name];
    const maxRate = Math.round(maxRates[name] * (isFast ? fastFactor : 1));
    return { name, ...size, maxRate, frameStep: isFast && halvesRate && name !== top ? 2 : 1 };
  };
  if (names.length === 0) return [rung('360p', ownSize(display))];
  return names.map((name) => rung(name, scaled(display, RUNGS[name].shortSide)));
}

function scaled({ width, height }: Size, shortSide: number): Size {
  const factor = shortSide / Math.min(width, height);
  const even = (pixels: number) => 2 * Math.round((pixels * factor) / 2);
  return { width: even(width), height: even(height) };
}

/** 4:2:0 needs an even width and height. An odd last line or column is cut, so that nothing is enlarged. */
function ownSize({ width, height }: Size): Size {
  const even = (pixels: number) => Math.max(2, 2 * Math.floor(pixels / 2));
  return { width: even(width), height: even(height) };
}
