import { expect, test } from '@jest/globals';
import { watermarkWords } from './watermark-words.ts';

test('a watermark is described by its corner, size and opacity', () => {
  expect(watermarkWords({ corner: 'top-left', width: 0.125, opacity: 1 })).toBe(
    'Top left, 12.5 % of the width, 100 % opaque',
  );
});
