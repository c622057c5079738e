/** Samples in a second of the sound that is recognised. */
export const SAMPLE_RATE = 16_000;

/** Loudness is compared over this time: longer than the closure of a plosive, shorter than most pauses between words. */
const QUIET_SECONDS = 0.2;

/** Steps in which the quietest place is searched. */
const STEP_SAMPLES = SAMPLE_RATE / 100;

/** The mean amplitude below which sound counts as silence: -60 dB of full scale. */
const SILENCE = 32_768 / 1000;

/**
 * Where to cut sound so that no word is torn apart: the middle of the quietest place of its second half, in samples. The latest one of places that
 * are equally quiet.
 */
export function quietCut(samples: Int16Array): number {
  const steps = Math.floor(samples.length / STEP_SAMPLES);
  const wide = Math.min(Math.round((QUIET_SECONDS * SAMPLE_RATE) / STEP_SAMPLES), steps);
  const loudness: number[] = [];
  for (let step = Math.floor(steps / 2); step < steps; step += 1) loudness.push(sumOf(samples, step));
  let sum = 0;
  let best = { at: samples.length, sum: Number.POSITIVE_INFINITY };
  for (const [at, value] of loudness.entries()) {
    sum += value - (loudness[at - wide] ?? 0);
    if (at >= wide - 1 && sum <= best.sum) {
      const middle = Math.floor(steps / 2) + at + 1 - wide / 2;
      best = { at: Math.round(middle * STEP_SAMPLES), sum };
    }
  }
  return best.at;
}

/** Whether nothing can be heard. */
export function isSilent(samples: Int16Array): boolean {
  const steps = Math.floor(samples.length / STEP_SAMPLES);
  for (let step = 0; step < steps; step += 1) {
    if (sumOf(samples, step) / STEP_SAMPLES > SILENCE) return false;
  }
  return true;
}

/** The sum of the amplitudes in a step. */
function sumOf(samples: Int16Array, step: number): number {
  let sum = 0;
  for (let at = step * STEP_SAMPLES; at < (step + 1) * STEP_SAMPLES; at += 1)
    sum += Math.abs(samples[at] ?? 0);
  return sum;
}
