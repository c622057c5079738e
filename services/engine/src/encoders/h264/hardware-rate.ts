import type { StreamOption, VideoDemands } from '../encoder.ts';

/**
 * The average bit rate relative to the maximum. Devices have no counterpart of x264's constant quality below a maximum rate that all of them
 * share: each has modes of its own, which few drivers have. All have an average with a maximum.
 */
const AVERAGE = 0.7;

/** The average bit rate of a rendition. */
export function averageRate({ maxRate }: VideoDemands): StreamOption {
  return ['-b', String(Math.round(AVERAGE * maxRate))];
}
