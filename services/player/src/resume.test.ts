import { expect, test } from '@jest/globals';
import { positionsIn, withPosition } from './resume.ts';

const OTHER = { video: '/v1/embed/ws_a/vid_b', seconds: 30 };
const video = '/v1/embed/ws_a/vid_a';

test('the newest position of a video replaces the earlier one, and comes first', () => {
  const positions = withPosition([OTHER, { video, seconds: 20 }], { video, seconds: 45.7 }, 100);
  expect(positions).toEqual([{ video, seconds: 45 }, OTHER]);
});

test.each([
  ['just begun', 9.9],
  ['as good as seen', 90.1],
])('a video that is %s begins at the beginning', (_, seconds) => {
  expect(withPosition([{ video, seconds: 45 }, OTHER], { video, seconds }, 100)).toEqual([OTHER]);
});

test('the oldest of more than 100 positions goes', () => {
  const full = Array.from({ length: 100 }, (_, at) => ({ video: `/${at}`, seconds: 10 }));
  const positions = withPosition(full, { video, seconds: 45 }, 100);
  expect(positions).toHaveLength(100);
  expect(positions.at(-1)?.video).toBe('/98');
});

test.each([
  [undefined],
  ['text'],
  [{ video, seconds: 1 }],
  [[null, { video }, { video, seconds: '5' }, { video: 1, seconds: 5 }, { video, seconds: -1 }]],
])('%j has no positions', (value) => {
  expect(positionsIn(value)).toEqual([]);
});
