import { expect, test } from '@jest/globals';
import { seekOf, seekPoints } from './seek.ts';

const source = (changes: Partial<Parameters<typeof seekOf>[0]> = {}) => ({
  container: 'mp4',
  entryPoints: [0, 2, 4, 6, 8],
  audioAhead: 0,
  keyFramesNeedOthers: false,
  ...changes,
});

test('a run begins before the second-to-last key frame', () => {
  const before = seekPoints(source());
  expect(before?.(6.5)).toBeCloseTo(3.9999, 6);
  // The key frame itself may be what is needed.
  expect(before?.(6)).toBeCloseTo(1.9999, 6);
  expect(before?.(2)).toBe(Number.NEGATIVE_INFINITY);
  expect(seekPoints(source({ container: 'mpegts' }))?.(6.5)).toBe(3);
});

test('runs begin with the file if it cannot be searched', () => {
  expect(seekPoints(source({ container: 'avi' }))).toBeNull();
  expect(seekPoints(source({ entryPoints: null }))).toBeNull();
  expect(seekOf(source({ container: 'avi' }), 6.5)).toBeUndefined();
});

test('a trimmed video is read from where its audio is, too', () => {
  expect(seekOf(source(), 6.5)).toBe(3.9999);
  expect(seekOf(source({ audioAhead: 1 }), 6.5)).toBe(1.9999);
  expect(seekOf(source({ audioAhead: 5 }), 6.5)).toBeUndefined();
  // Before the first key frame is the beginning.
  expect(seekOf(source(), 3)).toBeUndefined();
});
