import { expect, test } from '@jest/globals';
import { cuesOf } from './chapters.ts';

test('chapters are cues whose text is HTML', () => {
  const title = '<img src=x onerror=alert(1)> &amp; "';
  expect(
    cuesOf([
      { 'start-time': 0, duration: 4.5, titles: [{ title }] },
      { 'start-time': 4.5, duration: 1, titles: [] },
    ]),
  ).toEqual([
    { start: 0, end: 4.5, text: '&lt;img src=x onerror=alert(1)> &amp;amp; "' },
    { start: 4.5, end: 5.5, text: '' },
  ]);
});
