import { slowOnes } from '@framelane/test-kit/cpu-time';
import { HOSTILE_VALUES } from '@framelane/test-kit/hostile-text';
import { expect, test } from '@jest/globals';
import { readRetryAfter } from './retry-after.ts';

const NOW = new Date('2026-11-21T09:00:00Z');

test.each([
  ['120', 120],
  ['0', 0],
  ['Sat, 21 Nov 2026 09:01:30 GMT', 90],
  ['Saturday, 21-Nov-26 09:01:30 GMT', 90],
  ['Sat, 21 Nov 2026 08:00:00 GMT', 0],
  ['86401', 86_400],
  ['Wed, 01 Jan 2070 00:00:00 GMT', 86_400],
  ['Sat, 21 Nov 2026 10:01:30 GMT+0100', null],
  ['9'.repeat(400), null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['2026-11-21T09:01:30Z', null],
  ['', null],
  [undefined, null],
])('Retry-After %s is %s seconds', (header, seconds) => {
  expect(readRetryAfter(header, NOW)).toBe(seconds);
});

test('no value takes 100 ms, whatever it repeats', async () => {
  const values = HOSTILE_VALUES.flatMap((value) => [value, `${value} GMT`, `Sat, ${value}`]);
  expect(await slowOnes(values.map((value) => [value, () => readRetryAfter(value, NOW)]))).toEqual([]);
});
