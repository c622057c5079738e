import { expect, test } from '@jest/globals';
import { TrackEnd } from './track-end.ts';

test.each<[string, number | undefined, number, number, boolean]>([
  ['without an end', undefined, 0, 100, false],
  ['of audio, at its end', 10, 0, 9.9995, true],
  ['of audio, before its end', 10, 0, 9.98, false],
  ['with B-frames, which ffmpeg continues early', 10, -0.08, 9.92, true],
  ['with B-frames, before that', 10, -0.08, 9.88, false],
  ['whose first packet has no decoding time', 10, Number.NaN, 9.98, false],
])('a packet of a track %s', (_, shownUntil, firstDts, pts, isAfter) => {
  const end = new TrackEnd(shownUntil);
  expect(end.isPassedAt(0, firstDts)).toBe(false);
  expect(end.isPassedAt(pts, pts)).toBe(isAfter);
});
