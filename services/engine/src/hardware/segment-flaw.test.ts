import { expect, test } from '@jest/globals';
import type { SegmentInfo } from '../packagers/packager.ts';
import { segmentFlaw } from './segment-flaw.ts';

const ALIKE = { codecs: 'a', configuration: 'c', initialization: null };
const FIRST: SegmentInfo = { ...ALIKE, start: 10, last: 10.44, units: 12 };
const SECOND: SegmentInfo = { ...ALIKE, start: 10.48, last: 10.96, units: 13 };

test.each([
  ['nothing', {}, {}, null],
  ['frames are missing', {}, { units: 12 }, '24 of 25 frames'],
  ['the key frame is late', { units: 13 }, { units: 12 }, 'a key frame at frame 13, not 12'],
  ['the times are wrong', {}, { start: 10.52 }, 'frames 0.040 s late'],
  ['the codec strings differ', {}, { codecs: 'b' }, 'the codec strings a and b'],
  ['the parameter sets differ', {}, { configuration: 'd' }, 'parameter sets that change'],
])('a probe finds that %s', (_, first, second, expected) => {
  expect(segmentFlaw({ ...FIRST, ...first }, { ...SECOND, ...second })).toBe(expected);
});
