import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ViewerSample } from './viewer-sample.ts';

/** The hashes of these viewers. */
const hashesOf = (...viewers: number[]) =>
  Buffer.concat(viewers.map((viewer) => hash('sha256', String(viewer), 'buffer').subarray(0, 8)));

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

test('nobody is no viewer', () => {
  const sample = new ViewerSample();
  sample.add(Buffer.alloc(0));
  expect(sample.count).toBe(0);
});

test('a viewer counts once, in one addition or in several', () => {
  const sample = new ViewerSample(3);
  sample.add(hashesOf(1, 2, 1));
  sample.add(hashesOf(2, 3));
  expect(sample.count).toBe(3);
});

test('hashes of all bits are told apart', () => {
  const sample = new ViewerSample(2);
  sample.add(Buffer.from('00000000000000000000000000000001ffffffffffffffff', 'hex'));
  // The first bit of one hash of three is set.
  expect(sample.count).toBe(4);
});

describe('beyond what is counted exactly', () => {
  const sample = new ViewerSample(2000);
  for (let from = 0; from < 50_000; from += 5000) sample.add(hashesOf(...range(from, from + 5000)));

  test('the count is near the number of viewers', () => {
    expect(Math.abs(sample.count - 50_000)).toBeLessThan(5000);
  });

  test('viewers who were there change nothing', () => {
    const before = sample.count;
    sample.add(hashesOf(...range(10_000, 15_000)));
    expect(sample.count).toBe(before);
  });
});
