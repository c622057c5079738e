import type { FrameLoss } from '../source/frame-losses.ts';
import {
  COMMON_RATES,
  type FrameRate,
  isSameRate,
  MAX_RATE,
  MIN_RATE,
  RATE_TOLERANCE,
  toNumber,
} from '../source/frame-rate.ts';

/** The fraction of frames that may be missing at a constant rate: AVI omits a frame that equals the previous one. */
const MAX_MISSING_FRACTION = 0.1;

/** The fraction of frames that a natural rate may be too slow for. Clocks of cameras are a little fast, and cuts break the cadence of pulldown. */
const MAX_LOST_FRACTION = 0.01;

/** A variable rate is raised to the next of these rates. */
const STEPS = [15, 25, 30, 50, 60];

/** Lowest frame rate of interlaced video. A lower rate is film with repeated fields. */
const MIN_INTERLACED_RATE = 25;

/** Rates that differ less are the same, if one of them was estimated from rounded times. 24 and 23.976 differ by 0.001. */
const ESTIMATE_TOLERANCE = 0.0003;

/** In 3:2 pulldown, frames last two and three fields in turn. */
const FIELDS_PER_FILM_FRAME = 2.5;

/** What is known about the frame times of a video. */
type Times = {
  /** Frames per second, measured over the whole video. */
  average: number;
  /** The rate that the stream declares for its timestamps (`r_frame_rate`). It may be absurd. */
  declared: FrameRate | null;
  /** The lowest rate, common or declared, whose frame times include those of all frames, if there is one. */
  grid: FrameRate | null;
  /** Whether frames may repeat a field: they are then on the grid of the fields, although each lasts at least two of them. */
  repeatsFields?: boolean;
  /** Lowest rate first. */
  losses?: readonly FrameLoss[] | undefined;
};

/**
 * The constant frame rate of the top rendition: the rate of the grid that all frames are on, so that no frame is lost. Without a grid, the
 * declared rate if it is constant, else the next step above the average; a higher rate if that one would lose frames. A rate above 60 is
 * divided, and a rate below 10 multiplied, by a whole number.
 */
export function outputFrameRate({
  average,
  declared,
  grid,
  repeatsFields = false,
  losses = [],
}: Times): FrameRate {
  const divisor = Math.ceil(average / (MAX_RATE * (1 + RATE_TOLERANCE)));
  const rate = naturalRate({
    average: average / divisor,
    declared: declared && over(declared, divisor),
    grid,
    repeatsFields,
    // Above the maximum, frames are lost at every rate.
    losses: divisor > 1 ? [] : losses,
  });
  const repeats = Math.ceil(MIN_RATE / toNumber(rate));
  return { ...rate, numerator: rate.numerator * repeats };
}

/** By how much the frames must be moved so that the fewest are lost at a rate, as a fraction of its period. */
export function phaseAt(rate: FrameRate, losses: readonly FrameLoss[] = []): number {
  return lossesAt(rate, losses)?.phase ?? 0;
}

/** The field rate of interlaced video. Null if it exceeds the maximum frame rate, or if the video is film. */
export function fieldRate(frames: FrameRate): FrameRate | null {
  const rate = toNumber(frames);
  const isLowEnough = 2 * rate <= MAX_RATE * (1 + RATE_TOLERANCE);
  return isLowEnough && rate >= MIN_INTERLACED_RATE * (1 - RATE_TOLERANCE)
    ? { ...frames, numerator: 2 * frames.numerator }
    : null;
}

function naturalRate(times: Times): FrameRate {
  const { grid, repeatsFields, losses = [] } = times;
  if (grid && !repeatsFields) return filmRate(times) ?? grid;
  const usual = filmRate(times) ?? usualRate(times);
  // Times on a grid do not jitter: two frames with the same nearest frame time are shown as one.
  const isTooSlow = ({ lost, crowded }: FrameLoss) => (grid ? lost : crowded) > MAX_LOST_FRACTION;
  const lossesAtUsual = lossesAt(usual, losses);
  if (!lossesAtUsual || !isTooSlow(lossesAtUsual)) return usual;
  const higher = losses.find((loss) => toNumber(loss.rate) > toNumber(usual) && !isTooSlow(loss));
  return higher?.rate ?? { numerator: MAX_RATE, denominator: 1 };
}

/** The rate that cameras and editors mean by these times. It may lose frames. */
function usualRate({ average, declared }: Times): FrameRate {
  const isConstant = declared && toNumber(declared) <= MAX_RATE && isNear(toNumber(declared), average);
  if (isConstant) return declared;
  // For a variable rate, ffprobe declares a fraction close to the average. So only common rates are trusted.
  const usual = declared && commonRate(toNumber(declared));
  if (usual && isNotFarBelow(average, toNumber(usual))) return usual;
  return (
    commonRate(average) ?? { numerator: STEPS.find((step) => step >= average) ?? MAX_RATE, denominator: 1 }
  );
}

/**
 * The rate of film in 3:2 pulldown, whose frames are on the grid of the fields: nearly each frame time of the film then has one
 * frame. The average alone may have this value by chance.
 */
function filmRate({ average, grid, losses = [] }: Times): FrameRate | undefined {
  const isFilm = (rate: FrameRate) =>
    grid !== null &&
    Math.abs((FIELDS_PER_FILM_FRAME * toNumber(rate)) / toNumber(grid) - 1) < ESTIMATE_TOLERANCE &&
    isNear(toNumber(rate), average) &&
    (lossesAt(rate, losses)?.lost ?? 0) <= MAX_LOST_FRACTION;
  return COMMON_RATES.find(isFilm);
}

function lossesAt(rate: FrameRate, losses: readonly FrameLoss[]): FrameLoss | undefined {
  return losses.find((loss) => isSameRate(loss.rate, rate));
}

/** The common rate that a measured rate stands for, if any. */
function commonRate(measured: number): FrameRate | undefined {
  const [nearest] = COMMON_RATES.filter((rate) => isNear(toNumber(rate), measured)).sort(
    (a, b) => Math.abs(toNumber(a) - measured) - Math.abs(toNumber(b) - measured),
  );
  return nearest;
}

/** Whether an average can result from a constant rate with a few missing frames. */
function isNotFarBelow(average: number, rate: number): boolean {
  return average < rate && average >= rate * (1 - MAX_MISSING_FRACTION);
}

/** Whether a rate equals a measured average, with a tolerance for the coarse clocks of containers. */
export function isNear(rate: number, average: number): boolean {
  return Math.abs(rate - average) <= average * RATE_TOLERANCE;
}

function over(rate: FrameRate, divisor: number): FrameRate {
  return { ...rate, denominator: rate.denominator * divisor };
}
