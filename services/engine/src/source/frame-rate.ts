/** Frames a second as a fraction, as ffmpeg reads and writes it. */
export type FrameRate = { numerator: number; denominator: number };

/** Rates that cameras and editors use, lowest first. */
export const COMMON_RATES: readonly FrameRate[] = [
  { numerator: 15, denominator: 1 },
  { numerator: 24000, denominator: 1001 },
  { numerator: 24, denominator: 1 },
  { numerator: 25, denominator: 1 },
  { numerator: 30000, denominator: 1001 },
  { numerator: 30, denominator: 1 },
  { numerator: 48, denominator: 1 },
  { numerator: 50, denominator: 1 },
  { numerator: 60000, denominator: 1001 },
  { numerator: 60, denominator: 1 },
];

/** The lowest frame rate of the output. Frames of slower video are repeated, so that a segment can end within a tenth of a second of its target. */
export const MIN_RATE = 10;

/** The highest frame rate of the output. */
export const MAX_RATE = 60;

/** Relative error of measured rates. */
export const RATE_TOLERANCE = 0.005;

export function toNumber(rate: FrameRate): number {
  return rate.numerator / rate.denominator;
}

/** The fraction as ffmpeg writes it, e.g. `30000/1001`. */
export function toFraction(rate: FrameRate): string {
  return `${rate.numerator}/${rate.denominator}`;
}

export function isSameRate(a: FrameRate, b: FrameRate): boolean {
  return a.numerator * b.denominator === b.numerator * a.denominator;
}
