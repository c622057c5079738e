import { expect, test } from '@jest/globals';
import { cutCues } from './cut-captions.ts';

const cue = (start: number, end: number) => ({ start, end, settings: 'line:0', text: 'a' });

test.each([
  ['inside', [1200, 1800], [200, 800]],
  ['across the beginning', [500, 1500], [0, 500]],
  ['across the end', [1500, 2500], [500, 1000]],
  ['across both', [0, 9000], [0, 1000]],
] as const)('a cue %s', (_, [start, end], [from, to]) => {
  expect(cutCues([cue(start, end)], { from: 1000, to: 2000 })).toEqual([cue(from, to)]);
});

test.each([
  ['before', 0, 1000],
  ['after', 2000, 3000],
])('a cue that is shown only %s the clip is left out', (_, start, end) => {
  expect(cutCues([cue(start, end)], { from: 1000, to: 2000 })).toEqual([]);
});
