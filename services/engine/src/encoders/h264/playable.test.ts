import { expect, test } from '@jest/globals';
import { playbackObstacle } from './playable.ts';

test.each([
  ['avc1.64002a', null],
  ['avc1.4d401f', null],
  ['avc1.640033', 'it declares the level 5.1, above 4.2 (avc1.640033)'],
  ['avc1.42c01e', 'it declares the profile 66, not High (avc1.42c01e)'],
  ['avc1.f4001f', 'it declares the profile 244, not High (avc1.f4001f)'],
  ['hvc1.1.6.L93.90', 'it declares the profile 0, not High (hvc1.1.6.L93.90)'],
])('what is in the way of players of %s is %j', (codecs, expected) => {
  expect(playbackObstacle(codecs)).toBe(expected);
});
