import { COMMON_RATES, type FrameRate, toNumber } from '../source/frame-rate.ts';

/** A measured rate this close to a common one is that one. */
const TOLERANCE = 0.005;
/** Part of the frames that may be missing in a track of a constant rate, as AVI leaves out those that are like the last. */
const MISSING_PART = 0.1;

/** What a variable rate is raised to: the next of these. */
const STEPS = [15, 25, 30, 50, 60];

const MAX_RATE = 60;
/** Slower sources have their frames repeated, or a segment could not end within a tenth of a second of its time. */
const MIN_RATE = 10;
/** Interlaced pictures a second, at least; film, of which some fields are shown twice, has fewer. */
const LOWEST_INTERLACED_RATE = 25;

/** What is known of the time of a video. */
type Times = {
  /** Frames a second, measured over the whole video. */
  average: number;
  /** The rate its stream claims to be able to hold all timestamps; often right, sometimes absurd. */
  declared: FrameRate | null;
  /** The common rate whose frame times include those of all frames. */
  grid: FrameRate | null;
};

/**
 * The constant rate a video is delivered at: its own if it has one, else that of the grid its frames are on, else the next
 * usual one above its average; whole fractions of it above 60 and whole multiples of it below 10.
 */
export function deliveryFrameRate({ average, declared, grid }: Times): FrameRate {
  const divisor = Math.ceil(average / (MAX_RATE * (1 + TOLERANCE)));
  const rate = naturalRate({
    average: average / divisor,
    declared: declared && over(declared, divisor),
    grid,
  });
  const repeats = Math.ceil(MIN_RATE / toNumber(rate));
  return { ...rate, numerator: rate.numerator * repeats };
}

/** The rate of the fields of interlaced pictures; null when it is too high to be delivered, or they are film. */
export function fieldRate(pictures: FrameRate): FrameRate | null {
  const rate = toNumber(pictures);
  const isLowEnough = 2 * rate <= MAX_RATE * (1 + TOLERANCE);
  return isLowEnough && rate >= LOWEST_INTERLACED_RATE * (1 - TOLERANCE)
    ? { ...pictures, numerator: 2 * pictures.numerator }
    : null;
}

function naturalRate({ average, declared, grid }: Times): FrameRate {
  if (declared && isConstant(toNumber(declared), { average, grid })) return declared;
  if (grid && !isPulldown(average, grid)) return grid;
  // Only what cameras and editors use: of a variable rate, ffprobe guesses some fraction that is close to it.
  const usual = declared && commonRate(toNumber(declared));
  if (usual && isNotFarBelow(average, toNumber(usual))) return usual;
  return (
    commonRate(average) ?? { numerator: STEPS.find((step) => step >= average) ?? MAX_RATE, denominator: 1 }
  );
}

/** Whether a declared rate is that of all frames: what was measured, and not by chance while frames are on another grid. */
function isConstant(rate: number, { average, grid }: Omit<Times, 'declared'>): boolean {
  if (rate > MAX_RATE || !isNear(rate, average)) return false;
  if (!grid) return true;
  // Had all frames the times of a common rate, that rate would be the grid.
  const multiple = Math.round(toNumber(grid) / rate);
  return isNear(multiple * rate, toNumber(grid)) && (multiple === 1 || commonRate(rate) === undefined);
}

/** Whether frames are film, shown for two and three fields in turn: they are on the grid of the fields. */
function isPulldown(average: number, grid: FrameRate): boolean {
  return isNear(2.5 * average, toNumber(grid));
}

/** The one of the common rates that a measured rate is. */
function commonRate(measured: number): FrameRate | undefined {
  const [nearest] = COMMON_RATES.filter((rate) => isNear(toNumber(rate), measured)).sort(
    (a, b) => Math.abs(toNumber(a) - measured) - Math.abs(toNumber(b) - measured),
  );
  return nearest;
}

/** Whether an average is that of a track of so constant a rate, but for frames that are missing. */
function isNotFarBelow(average: number, rate: number): boolean {
  return average < rate && average >= rate * (1 - MISSING_PART);
}

/** Whether a rate is what was measured but for the coarse clocks of containers. */
export function isNear(rate: number, average: number): boolean {
  return Math.abs(rate - average) <= average * TOLERANCE;
}

function over(rate: FrameRate, divisor: number): FrameRate {
  return { ...rate, denominator: rate.denominator * divisor };
}
