import { expect, test } from '@jest/globals';
import { isOnItsSide, turnOf } from './orientation.ts';

const ONE = 65_536;

/** As ffprobe writes it. */
const matrix = (a: number, b: number, c: number, d: number) =>
  `\n00000000: ${a} ${b} 0\n00000001: ${c} ${d}    0\n00000002:  0  0  1073741824\n`;

test.each([
  ['as it is', matrix(ONE, 0, 0, ONE), [], false],
  ['turned right', matrix(0, ONE, -ONE, 0), ['transpose=clock'], true],
  ['turned left', matrix(0, -ONE, ONE, 0), ['transpose=cclock'], true],
  ['on its head', matrix(-ONE, 0, 0, -ONE), ['hflip', 'vflip'], false],
  ['mirrored', matrix(-ONE, 0, 0, ONE), ['hflip'], false],
  ['upside down', matrix(ONE, 0, 0, -ONE), ['vflip'], false],
  ['with x and y exchanged', matrix(0, ONE, ONE, 0), ['transpose=cclock_flip'], true],
  ['turned right and mirrored', matrix(0, -ONE, -ONE, 0), ['transpose=clock_flip'], true],
  ['turned by a little', matrix(60_000, 8000, -8000, 60_000), [], false],
  ['by nonsense', 'no matrix', [], false],
])('a picture is shown %s', (_, text, turn, onItsSide) => {
  expect(turnOf(text)).toEqual(turn);
  expect(isOnItsSide(turnOf(text))).toBe(onItsSide);
});
