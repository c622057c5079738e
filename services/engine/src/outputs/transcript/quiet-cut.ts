/** Samples in a second of the sound that is recognised. */
export const SAMPLE_RATE = 16_000;

/** Loudness is compared over this time: longer than the closure of a plosive, shorter than most pauses between words. */
const QUIET_SECONDS = 0.2;

/** Steps in which the quietest place is searched. */
const STEP_SAMPLES = SAMPLE_RATE / 100;

/** Silence that is kept before and after what can be heard: the beginning of a word is not loud. */
const MARGIN_SECONDS = 0.1;

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

/**
 * The part of sound between the silence at its beginning and at its end, and where it begins, in samples; undefined if nothing can be heard.
 * Recognisers without times of words show text from the beginning of the silence on, and invent text for it.
 */
export function audible(samples: Int16Array): { from: number; samples: Int16Array } | undefined {
  const steps = Math.floor(samples.length / STEP_SAMPLES);
  const isHeard = (step: number) => sumOf(samples, step) / STEP_SAMPLES > SILENCE;
  let first = 0;
  while (first < steps && !isHeard(first)) first += 1;
  if (first === steps) return undefined;
  let last = steps - 1;
  while (!isHeard(last)) last -= 1;
  const margin = MARGIN_SECONDS * SAMPLE_RATE;
  const from = Math.max(0, first * STEP_SAMPLES - margin);
  return { from, samples: samples.subarray(from, (last + 1) * STEP_SAMPLES + margin) };
}

/** The sum of the amplitudes in a step. */
function sumOf(samples: Int16Array, step: number): number {
  let sum = 0;
  for (let at = step * STEP_SAMPLES; at < (step + 1) * STEP_SAMPLES; at += 1)
    sum += Math.abs(samples[at] ?? 0);
  return sum;
}
