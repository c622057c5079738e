import { expect, test } from '@jest/globals';
import { NO_OPTIONS, startError, withOptions } from './embed-options.ts';

const PAGE = 'https://video.example.com/v1/embed/ws_1/vid_1';

test.each([
  [{}, ''],
  [{ autoplay: true, muted: true }, '?autoplay=1&muted=1'],
  [{ loop: true, remember: true }, '?loop=1&remember=1'],
  [{ start: ' 1:02.5 ' }, '?start=62.5'],
  // It has a meaning with `remember`.
  [{ start: '0' }, '?start=0'],
  [{ start: 'soon' }, ''],
  [{ color: '#ff6600' }, '?color=ff6600'],
])('%j is the query %j', (options, query) => {
  expect(withOptions(PAGE, { ...NO_OPTIONS, ...options })).toBe(PAGE + query);
});

test('the token of a page stays', () => {
  expect(withOptions(`${PAGE}?token=a.b`, { ...NO_OPTIONS, loop: true })).toBe(`${PAGE}?token=a.b&loop=1`);
});

test.each([
  ['', undefined],
  ['  ', undefined],
  ['1:30', undefined],
  ['soon', 'Write a time such as 1:02.5.'],
])('the start %j is wrong: %j', (start, error) => {
  expect(startError({ ...NO_OPTIONS, start })).toBe(error);
});
