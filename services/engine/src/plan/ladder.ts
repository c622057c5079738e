import { partsOf, RUNGS, type RungName } from '@framelane/contracts/renditions';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import type { Size } from '../source/media-source.ts';

/** Maximum bit rate of each rung at up to 30 frames per second, in bits per second. */
export type MaxRates = Readonly<Record<RungName, number>>;

export const DEFAULT_MAX_RATES: MaxRates = {
  '360p': 800_000,
  '480p': 1_400_000,
  '720p': 2_800_000,
  '1080p': 5_000_000,
};

/** Video with more frames per second counts as fast. */
const FAST_RATE = 30;

type RungTraits = {
  /** Pixels. */
  shortSide: number;
  /** For fast video: the factor of the maximum bit rate (HLS authoring specification, table of H.264 variants). */
  fastFactor: number;
  /** Whether fast video has half the frame rate, unless this is its highest rung (same table). */
  halvesRate: boolean;
  /** Whether encoders may take more time for each frame. */
  isSmall: boolean;
};

const LADDER: Record<RungName, RungTraits> = {
  '360p': { shortSide: 360, fastFactor: 1, halvesRate: true, isSmall: true },
  '480p': { shortSide: 480, fastFactor: 1, halvesRate: true, isSmall: true },
  '720p': { shortSide: 720, fastFactor: 1.4, halvesRate: false, isSmall: false },
  '1080p': { shortSide: 1080, fastFactor: 1.4, halvesRate: false, isSmall: false },
};

/** The rung of a rendition. */
export function rungTraits({ name }: Pick<VideoRenditionPlan, 'name'>): RungTraits {
  return LADDER[partsOf(name).rung];
}

/** Posters have this size at least, if the video has. */
const POSTER_RUNG = '720p';

/** The rendition whose frames become the poster; undefined without renditions. */
export function posterRendition(renditions: readonly VideoRenditionPlan[]): VideoRenditionPlan | undefined {
  const isLarge = (rendition: VideoRenditionPlan) =>
    rungTraits(rendition).shortSide >= LADDER[POSTER_RUNG].shortSide;
  return renditions.find(isLarge) ?? renditions.at(-1);
}

/**
 * The H.264 renditions of a video, lowest rung first. A rung is named after the short side of the displayed frame, so that portrait
 * video gets the same quality as landscape. No video is enlarged: one below the lowest rung keeps its size. The highest rung
 * always has the full frame rate.
 *
 * @param display the size as shown: rotated, with square pixels
 */
export function planLadder(
  display: Size,
  framesPerSecond: number,
  maxRates = DEFAULT_MAX_RATES,
): VideoRenditionPlan[] {
  const shortSide = Math.min(display.width, display.height);
  const isFast = framesPerSecond > FAST_RATE;
  const rungs = RUNGS.filter((rung) => LADDER[rung].shortSide <= shortSide);
  const [lowest] = RUNGS;
  const top = rungs.at(-1) ?? lowest;
  const rendition = (rung: RungName, size: Size): VideoRenditionPlan => {
    const { fastFactor, halvesRate } = LADDER[rung];
    const maxRate = Math.round(maxRates[rung] * (isFast ? fastFactor : 1));
    const frameStep = isFast && halvesRate && rung !== top ? 2 : 1;
    return { name: rung, ...size, maxRate, frameStep };
  };
  if (rungs.length === 0) return [rendition(lowest, ownSize(display))];
  return rungs.map((rung) => rendition(rung, scaled(display, LADDER[rung].shortSide)));
}

/**
 * The renditions of still video: the lowest and the highest one. The highest needs so few bits that those between would hardly be played.
 */
export function stillLadder(ladder: readonly VideoRenditionPlan[]): VideoRenditionPlan[] {
  return ladder.filter((_, at) => at === 0 || at === ladder.length - 1);
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
