import { expect, test } from '@jest/globals';
import { aspectRatio } from './aspect-ratio.ts';

test.each([
  ['16/9', '16 / 9'],
  [' 9 : 16 ', '9 / 16'],
  ['2.35', '2.35 / 1'],
])('%j is an aspect ratio', (text, ratio) => expect(aspectRatio(text)).toBe(ratio));

test.each(['', '16/', '/9', '0/9', '16/0', '-16/9', '16/9/4', 'auto', '1/1; color: red', 'Infinity'])(
  '%j is not one',
  (text) => expect(aspectRatio(text)).toBeUndefined(),
);
