import { Random } from '@framelane/test-kit/random';
import { describe, expect, test } from '@jest/globals';
import { audible, loudnessOf, quietCut, SAMPLE_RATE } from './quiet-cut.ts';

/** Noise of a loudness, with quieter places: from and to in seconds, and how loud. */
function sound(
  seconds: number,
  loudness: number,
  quiet: readonly [number, number, number][] = [],
): Int16Array {
  const random = new Random(1);
  const noise = (level: number) => random.below(2 * level + 1) - level;
  const samples = Int16Array.from({ length: seconds * SAMPLE_RATE }, () => noise(loudness));
  for (const [from, to, level] of quiet) {
    for (let at = Math.round(from * SAMPLE_RATE); at < Math.round(to * SAMPLE_RATE); at += 1)
      samples[at] = noise(level);
  }
  return samples;
}

const cutOf = (samples: Int16Array) => quietCut(loudnessOf(samples)) / SAMPLE_RATE;
const heardIn = (samples: Int16Array) => audible(loudnessOf(samples));

describe('sound is cut', () => {
  test('in the pause of its second half', () => {
    expect(
      cutOf(
        sound(10, 8000, [
          [2, 3, 0],
          [7, 7.4, 0],
        ]),
      ),
    ).toBeCloseTo(7.3, 1);
  });

  test('in the latest one of several pauses', () => {
    expect(
      cutOf(
        sound(10, 8000, [
          [6, 6.4, 0],
          [8, 8.4, 0],
        ]),
      ),
    ).toBeCloseTo(8.3, 1);
  });

  test('where it is quietest, if there is no silence', () => {
    expect(
      cutOf(
        sound(10, 8000, [
          [6, 6.3, 4000],
          [8, 8.3, 2000],
        ]),
      ),
    ).toBeCloseTo(8.15, 1);
  });

  test('after its first half, and not after its end', () => {
    for (const samples of [sound(4, 8000), sound(1, 0), sound(4, 8000, [[0, 2, 0]])]) {
      expect(cutOf(samples)).toBeGreaterThan(samples.length / SAMPLE_RATE / 2 - 0.11);
      expect(cutOf(samples)).toBeLessThanOrEqual(samples.length / SAMPLE_RATE);
    }
  });

  test('somewhere, if it is very short', () => {
    for (const length of [160, 3000]) expect(cutOf(new Int16Array(length))).toBeGreaterThan(0);
  });
});

describe('what can be heard', () => {
  test('is nothing in silence', () => {
    for (const samples of [sound(3, 0), sound(3, 20), new Int16Array(0)])
      expect(heardIn(samples)).toBeUndefined();
  });

  test('begins and ends a little before and after it', () => {
    const found = heardIn(
      sound(10, 2000, [
        [0, 4, 0],
        [6, 10, 10],
      ]),
    );
    expect((found?.from ?? 0) / SAMPLE_RATE).toBeCloseTo(3.9, 1);
    expect((found?.end ?? 0) / SAMPLE_RATE).toBeCloseTo(6.1, 1);
  });

  test('is all of it without silence', () => {
    const samples = sound(2, 2000);
    expect(heardIn(samples)).toEqual({ from: 0, end: samples.length });
  });
});
