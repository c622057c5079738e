/** Samples in a second of the sound that is recognised. */
export const SAMPLE_RATE = 16_000;

/** Loudness is compared over this time: longer than the closure of a plosive, shorter than most pauses between words. */
const QUIET_SECONDS = 0.2;

/** The samples of a step, in which loudness is measured: 10 ms. */
export const STEP_SAMPLES = SAMPLE_RATE / 100;

/** Silence that is kept before and after what can be heard: the beginning of a word is not loud. */
const MARGIN_SECONDS = 0.1;

/** The mean amplitude below which sound counts as silence: -60 dB of full scale. */
const SILENCE = 32_768 / 1000;

/** The sum of the amplitudes in each whole step. */
export function loudnessOf(samples: Int16Array): Uint32Array {
  const loudness = new Uint32Array(Math.floor(samples.length / STEP_SAMPLES));
  for (let step = 0, at = 0; step < loudness.length; step += 1) {
    let sum = 0;
    for (const end = at + STEP_SAMPLES; at < end; at += 1) sum += Math.abs(samples[at] ?? 0);
    loudness[step] = sum;
  }
  return loudness;
}

/**
 * Where to cut sound so that no word is torn apart: the middle of the quietest place of its second half, in samples. The latest one of places that
 * are equally quiet.
 */
export function quietCut(loudness: Uint32Array): number {
  const half = Math.floor(loudness.length / 2);
  const wide = Math.min(Math.round((QUIET_SECONDS * SAMPLE_RATE) / STEP_SAMPLES), loudness.length - half);
  let sum = 0;
  let [quietest, end] = [Number.POSITIVE_INFINITY, loudness.length];
  for (let step = half; step < loudness.length; step += 1) {
    sum += loudness[step] ?? 0;
    if (step >= half + wide) sum -= loudness[step - wide] ?? 0;
    if (step >= half + wide - 1 && sum <= quietest) [quietest, end] = [sum, step + 1];
  }
  return Math.round((end - wide / 2) * STEP_SAMPLES);
}

/**
 * The part of sound between the silence at its beginning and at its end, in samples; undefined if nothing can be heard. Recognisers without times of
 * words show text from the beginning of the silence on, and invent text for it.
 */
export function audible(loudness: Uint32Array): { from: number; end: number } | undefined {
  const isHeard = (sum: number) => sum / STEP_SAMPLES > SILENCE;
  const first = loudness.findIndex(isHeard);
  if (first === -1) return undefined;
  const last = loudness.findLastIndex(isHeard);
  const margin = MARGIN_SECONDS * SAMPLE_RATE;
  return {
    from: Math.max(0, first * STEP_SAMPLES - margin),
    end: Math.min(loudness.length * STEP_SAMPLES, (last + 1) * STEP_SAMPLES + margin),
  };
}
