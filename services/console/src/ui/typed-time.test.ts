import { expect, test } from '@jest/globals';
import { formatTypedTime, parseTypedTime } from './typed-time.ts';

test.each([
  ['0', 0],
  ['62.5', 62.5],
  ['1:02,5', 62.5],
  [' 1:00:02 ', 3602],
  ['90:00', 5400],
  ['1:02.1234', 62.123],
])('%j is a time', (text, seconds) => {
  expect(parseTypedTime(text)).toBe(seconds);
});

test.each(['', 'a', '-1', '1:', ':1', '1:2:3:4', '1.2.3', 'NaN', '1e3'])('%j is no time', (text) => {
  expect(parseTypedTime(text)).toBeUndefined();
});

test.each([
  [0, '0:00'],
  [62.5, '1:02.5'],
  [3602.04, '1:00:02.04'],
  [59.9999, '1:00'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatTypedTime(seconds)).toBe(text);
});
