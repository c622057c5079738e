import { COMMON_RATES, type FrameRate, RATE_TOLERANCE, toNumber } from '../source/frame-rate.ts';

/** The fraction of frames that may be missing at a constant rate: AVI omits a frame that equals the previous one. */
const MAX_MISSING_FRACTION = 0.1;

/** A variable rate is raised to the next of these rates. */
const STEPS = [15, 25, 30, 50, 60];

const MAX_RATE = 60;
/** Frames of slower sources are repeated, so that a segment can end within a tenth of a second of its target. */
const MIN_RATE = 10;
/** Lowest frame rate of interlaced video. A lower rate is film with repeated fields. */
const MIN_INTERLACED_RATE = 25;

/** What is known about the frame times of a video. */
type Times = {
  /** Frames per second, measured over the whole video. */
  average: number;
  /** The rate that the stream declares for its timestamps (`r_frame_rate`). It may be absurd. */
  declared: FrameRate | null;
  /** The common rate whose frame times include those of all frames, if there is one. */
  grid: FrameRate | null;
};

/**
 * The constant frame rate of the top rendition: the declared rate if it is constant, else the rate of the grid that all frames are on,
 * else the next step above the average. A rate above 60 is divided, and a rate below 10 multiplied, by a whole number.
 */
export function outputFrameRate({ average, declared, grid }: Times): FrameRate {
  const divisor = Math.ceil(average / (MAX_RATE * (1 + RATE_TOLERANCE)));
  const rate = naturalRate({
    average: average / divisor,
    declared: declared && over(declared, divisor),
    grid,
  });
  const repeats = Math.ceil(MIN_RATE / toNumber(rate));
  return { ...rate, numerator: rate.numerator * repeats };
}

/** The field rate of interlaced video. Null if it exceeds the maximum frame rate, or if the video is film. */
export function fieldRate(frames: FrameRate): FrameRate | null {
  const rate = toNumber(frames);
  const isLowEnough = 2 * rate <= MAX_RATE * (1 + RATE_TOLERANCE);
  return isLowEnough && rate >= MIN_INTERLACED_RATE * (1 - RATE_TOLERANCE)
    ? { ...frames, numerator: 2 * frames.numerator }
    : null;
}

function naturalRate({ average, declared, grid }: Times): FrameRate {
  if (declared && isConstant(toNumber(declared), { average, grid })) return declared;
  if (grid && !isPulldown(average, grid)) return grid;
  // For a variable rate, ffprobe declares a fraction close to the average. So only common rates are trusted.
  const usual = declared && commonRate(toNumber(declared));
  if (usual && isNotFarBelow(average, toNumber(usual))) return usual;
  return (
    commonRate(average) ?? { numerator: STEPS.find((step) => step >= average) ?? MAX_RATE, denominator: 1 }
  );
}

/** Whether a declared rate is the constant rate: it equals the measured one, and the grid does not show that this is chance. */
function isConstant(rate: number, { average, grid }: Omit<Times, 'declared'>): boolean {
  if (rate > MAX_RATE || !isNear(rate, average)) return false;
  if (!grid) return true;
  // The grid is the lowest common rate with the times of all frames. If `rate` were one, it would be the grid.
  const multiple = Math.round(toNumber(grid) / rate);
  return isNear(multiple * rate, toNumber(grid)) && (multiple === 1 || commonRate(rate) === undefined);
}

/** Whether the video is film in 3:2 pulldown: frames last two and three fields in turn, on the grid of the fields. */
function isPulldown(average: number, grid: FrameRate): boolean {
  return isNear(2.5 * average, toNumber(grid));
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
