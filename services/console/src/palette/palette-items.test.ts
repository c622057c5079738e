import { expect, test } from '@jest/globals';
import { moved, videoIdIn, withWords } from './palette-items.ts';

const ITEMS = ['Videos', 'Import from URL', 'Keyboard shortcuts', 'Keys'].map((name) => ({ name }));
const found = (text: string) => withWords(ITEMS, text, ({ name }) => name).map(({ name }) => name);

test('an item matches if its name has all words, in any order and case', () => {
  expect(found('')).toHaveLength(4);
  expect(found('  ')).toHaveLength(4);
  expect(found('key')).toEqual(['Keyboard shortcuts', 'Keys']);
  expect(found('url IMP')).toEqual(['Import from URL']);
  expect(found('url keys')).toEqual([]);
  // No expression.
  expect(found('.*')).toEqual([]);
});

test.each([
  [0, 'ArrowDown', 3, 1],
  [2, 'ArrowDown', 3, 0],
  [0, 'ArrowUp', 3, 2],
  [1, 'ArrowUp', 3, 0],
  [1, 'PageDown', 3, 2],
  [1, 'PageUp', 3, 0],
  [1, 'a', 3, undefined],
  [0, 'ArrowDown', 0, undefined],
])('from %p, %s in a list of %p leads to %p', (index, key, length, to) => {
  expect(moved(index, key, length)).toBe(to);
});

test('a text is the id of a video only as a whole', () => {
  const id = 'vid_01m7y5g5zqfqetgq1je8rn7s3t';
  expect(videoIdIn(` ${id}\n`)).toBe(id);
  for (const text of [`${id}x`, `x ${id}`, 'vid_', 'vid_81m7y5g5zqfqetgq1je8rn7s3t', id.toUpperCase()]) {
    expect(videoIdIn(text)).toBeUndefined();
  }
});
