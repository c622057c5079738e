import { expect, test } from '@jest/globals';
import { clipTimes, frameStart } from './clip-times.ts';

const UNREADABLE = 'Write a time such as 1:02.5.';

test.each([
  ['within a frame', 10.039, 25, 10],
  ['at a frame', 10.04, 25, 10.04],
  ['at a frame that the player rounds', 10.0399, 25, 10.04],
  ['at the end', 20.02, 30_000 / 1001, 20.02],
  ['of sound alone', 1.234, null, 1.234],
])('the frame that a player shows %s', (_, seconds, frameRate, expected) => {
  expect(frameStart(seconds, frameRate)).toBeCloseTo(expected, 9);
});

test.each([
  ['0:01', '0:04.5', { times: { start: 1, end: 4.5 } }],
  ['', 'x', { errors: { start: UNREADABLE, end: UNREADABLE } }],
  ['0:01', '-1', { errors: { end: UNREADABLE } }],
  ['0:05', '0:05', { errors: { end: 'The clip must end after it begins.' } }],
])('from %j to %j', (start, end, expected) => {
  expect(clipTimes({ start, end })).toEqual(expected);
});
