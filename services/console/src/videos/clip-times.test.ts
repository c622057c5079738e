import { expect, test } from '@jest/globals';
import { clipTimes } from './clip-times.ts';

const UNREADABLE = 'Write a time such as 1:02.5.';

test.each([
  ['0:01', '0:04.5', { times: { start: 1, end: 4.5 } }],
  ['', 'x', { errors: { start: UNREADABLE, end: UNREADABLE } }],
  ['0:01', '-1', { errors: { end: UNREADABLE } }],
  ['0:05', '0:05', { errors: { end: 'The clip must end after it begins.' } }],
])('from %j to %j', (start, end, expected) => {
  expect(clipTimes({ start, end })).toEqual(expected);
});
