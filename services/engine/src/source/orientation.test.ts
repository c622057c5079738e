import { expect, test } from '@jest/globals';
import { swapsSides, turnOf } from './orientation.ts';

const ONE = 65_536;

/** As ffprobe writes it. */
const matrix = (...[a, b, c, d]: [number, number, number, number]) => {
  const lines = [
    [a, b, 0],
    [c, d, 0],
    [0, 0, 1_073_741_824],
  ].map((numbers, at) => `0000000${at}:${numbers.map((number) => String(number).padStart(12)).join('')}`);
  return `\n${lines.join('\n')}\n`;
};

test.each([
  ['as coded', matrix(ONE, 0, 0, ONE), [], false],
  ['rotated right', matrix(0, ONE, -ONE, 0), ['transpose=clock'], true],
  ['rotated left', matrix(0, -ONE, ONE, 0), ['transpose=cclock'], true],
  ['rotated by 180°', matrix(-ONE, 0, 0, -ONE), ['hflip', 'vflip'], false],
  ['mirrored', matrix(-ONE, 0, 0, ONE), ['hflip'], false],
  ['flipped', matrix(ONE, 0, 0, -ONE), ['vflip'], false],
  ['transposed', matrix(0, ONE, ONE, 0), ['transpose=cclock_flip'], true],
  ['rotated right and mirrored', matrix(0, -ONE, -ONE, 0), ['transpose=clock_flip'], true],
  ['as coded for a slight rotation', matrix(60_000, 8000, -8000, 60_000), [], false],
  ['rotated right for an inexact matrix', matrix(8000, 60_000, -60_000, 8000), ['transpose=clock'], true],
  ['mirrored for a slight rotation', matrix(-60_000, 8000, 8000, 60_000), ['hflip'], false],
  ['as coded for a rotation right by 45°', matrix(46_341, 46_341, -46_341, 46_341), [], false],
  ['as coded for an invalid matrix', 'no matrix', [], false],
])('frames are displayed %s', (_, text, turn, swapped) => {
  expect(turnOf(text)).toEqual(turn);
  expect(swapsSides(turnOf(text))).toBe(swapped);
});
