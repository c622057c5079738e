import { expect, test } from '@jest/globals';
import { matching, moved, pageOfId, videoIdIn, withWords } from './palette-items.ts';

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

test('keywords find an item, too, after those whose names have the words', () => {
  const items = [
    { name: 'Webhooks', keywords: 'events settings' },
    { name: 'Keys', keywords: 'api keys tokens' },
    { name: 'Events' },
  ];
  const names = (text: string) => matching(items, text).map(({ name }) => name);
  expect(names('event')).toEqual(['Events', 'Webhooks']);
  expect(names('api key')).toEqual(['Keys']);
  expect(names('keys events')).toEqual([]);
  expect(names('')).toHaveLength(3);
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

test.each([
  ['whk', '/webhooks/whk_01m7y5g5zqfqetgq1je8rn7s3t'],
  ['log', '/requests/log_01m7y5g5zqfqetgq1je8rn7s3t'],
  ['req', '/requests?requestId=req_01m7y5g5zqfqetgq1je8rn7s3t'],
  ['vid', undefined],
  ['key', undefined],
])('an id that begins with %s_ leads to %p', (kind, path) => {
  const id = `${kind}_01m7y5g5zqfqetgq1je8rn7s3t`;
  expect(pageOfId(` ${id}\n`)?.path).toBe(path);
  expect(pageOfId(`${id}x`)).toBeUndefined();
});
