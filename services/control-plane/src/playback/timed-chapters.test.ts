import { expect, test } from '@jest/globals';
import { chaptersFile } from './chapters-webvtt.ts';
import { timedChapters } from './timed-chapters.ts';

const TWO = [
  { start: 500, title: 'A' },
  { start: 4000, title: 'B' },
];

test('a chapter ends where the next one begins, the last one at the end of the video', () => {
  expect(timedChapters(TWO, 10.24)).toEqual([
    { start: 0.5, end: 4, title: 'A' },
    { start: 4, end: 10.24, title: 'B' },
  ]);
});

test('the last chapter lasts a second while the duration is not known', () => {
  expect(timedChapters(TWO, null).map(({ end }) => end)).toEqual([4, 5]);
});

test.each([
  [4.001, [4, 4.001]],
  [4, [4]],
  [0.5, []],
])('a video of %d seconds has the chapters that begin before its end', (duration, ends) => {
  expect(timedChapters(TWO, duration).map(({ end }) => end)).toEqual(ends);
});

test('a WebVTT file of chapters has escaped titles', () => {
  expect(chaptersFile([{ start: 1.5, end: 3, title: '<i> --> & &lt; "' }])).toBe(
    'WEBVTT\n\n00:00:01.500 --> 00:00:03.000\n&lt;i&gt; --&gt; &amp; &amp;lt; "\n',
  );
});
