import { expect, test } from '@jest/globals';
import { ToolOutputError } from '../../sandbox/tool-output.ts';
import { box, boxesIn, contentAt, fullBox } from './boxes.ts';

const inner = box('free', Buffer.from([1, 2, 3]));
const outer = box('moof', inner, box('skip'));

test('boxes are read as they were written', () => {
  const [first, second, ...others] = boxesIn(Buffer.concat([inner, outer]));
  expect(first).toEqual({ type: 'free', content: Buffer.from([1, 2, 3]), bytes: inner });
  expect(second?.bytes).toEqual(outer);
  expect(others).toEqual([]);
  expect(boxesIn(Buffer.alloc(0))).toEqual([]);
});

test('a full box has its version and flags before its numbers', () => {
  expect(fullBox('trun', 0x0100_0205, [7, -1]).toString('hex')).toBe(
    '000000147472756e0100020500000007ffffffff',
  );
});

test('a truncated box is refused, wherever it ends', () => {
  for (let bytes = 1; bytes < outer.length; bytes += 1)
    expect(() => boxesIn(outer.subarray(0, bytes))).toThrow('A box is truncated');
});

test.each([0, 1, 7, 12, 2 ** 31, 2 ** 32 - 1])('a box that says a size of %d is refused', (size) => {
  const bytes = Buffer.from(inner);
  bytes.writeUInt32BE(size);
  expect(() => boxesIn(bytes)).toThrow('A box is truncated');
});

test('zeros after a box are refused', () => {
  expect(() => boxesIn(Buffer.concat([inner, Buffer.alloc(8)]))).toThrow('A box is truncated');
});

test('more boxes than a segment has are refused before they take memory', () => {
  const boxes = (count: number) => Buffer.alloc(8 * count, box('free'));
  expect(boxesIn(boxes(20_000))).toHaveLength(20_000);
  expect(() => boxesIn(boxes(20_001))).toThrow(ToolOutputError);
  expect(() => boxesIn(boxes(1_000_000))).toThrow('too many boxes');
});

test('the content of a box within others is found by its path', () => {
  const file = Buffer.concat([box('ftyp'), outer]);
  expect(contentAt(file, ['moof', 'free'])).toEqual(Buffer.from([1, 2, 3]));
  expect(contentAt(file, ['moof', 'skip'])).toEqual(Buffer.alloc(0));
  expect(() => contentAt(file, ['moof', 'traf'])).toThrow('The box traf is missing');
  expect(() => contentAt(file, ['moov', 'free'])).toThrow('The box moov is missing');
  expect(() => contentAt(Buffer.concat([file, outer]), ['moof'])).toThrow('There are several boxes moof');
});
