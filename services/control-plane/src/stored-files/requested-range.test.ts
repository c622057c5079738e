import { requireLinearTime } from '@framelane/test-kit/growth';
import { expect, test } from '@jest/globals';
import { requestedRange } from './requested-range.ts';

/** The range of a file of ten bytes, as `start-end`. */
function read(header: string | undefined, bytes = 10): string | undefined {
  const range = requestedRange(header, bytes);
  return typeof range === 'object' ? `${range.start}-${range.end}` : range;
}

test.each([
  ['bytes=2-4', '2-4'],
  ['bytes=0-0', '0-0'],
  ['bytes=5-', '5-9'],
  ['bytes=5-100', '5-9'],
  ['bytes=-3', '7-9'],
  // The whole file, if it is shorter (RFC 9110 §14.1.2).
  ['bytes=-100', '0-9'],
  [`bytes=0-${'9'.repeat(400)}`, '0-9'],
  ['Bytes=2-4', '2-4'],
  ['bytes= 2-4 ,, ', '2-4'],
  ['bytes=5-6,2-4', '2-6'],
  ['bytes=2-8,3-4', '2-8'],
  ['bytes=2-4,20-30', '2-4'],
])('%s is %s', (header, range) => {
  expect(read(header)).toBe(range);
});

test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=20-30,40-', `bytes=${'9'.repeat(400)}-`])(
  '%s has no byte of the file',
  (header) => {
    expect(read(header)).toBe('unsatisfiable');
  },
);

test('an empty file has no range', () => {
  expect(read('bytes=0-', 0)).toBe('unsatisfiable');
});

test.each([
  undefined,
  '',
  'bytes',
  'bytes=',
  'bytes=,',
  'bytes=-',
  'bytes=5-2',
  'bytes=0-1,5-2',
  'bytes=20-15',
  'bytes=a-b',
  'bytes=1-2x',
  'bytes=1-2-3',
  'bytes=+1-2',
  'bytes=1.5-2',
  'bytes =1-2',
  'items=0-4',
  'kilobytes=0-4',
  'bytes=0-1,4-5',
])('%s is ignored', (header) => {
  expect(read(header)).toBeUndefined();
});

test('a header with thousands of ranges takes no longer than their number', async () => {
  const ranges = Array.from({ length: 8_000 }, (_, index) => `${2 * index}-`);
  expect(read(`bytes=${ranges.join(',')}`, 100_000)).toBe('0-99999');
  const apart = (count: number) =>
    `bytes=${Array.from({ length: count }, (_, index) => `${2 * index}-${2 * index}`).join(',')}`;
  expect(read(apart(8_000), 100_000)).toBeUndefined();
  await requireLinearTime(2 ** 18, apart, (header) => read(header, 2 ** 20));
});
