import { expect, test } from '@jest/globals';
import { UNREADABLE_TIME } from '../ui/typed-time.ts';
import { trimForm, trimRequest } from './trim-request.ts';

test.each([
  ['', ' ', { trim: undefined }],
  ['0:01.5', '', { trim: { start: 1.5 } }],
  ['', '1:02', { trim: { end: 62 } }],
  ['0', '4,5', { trim: { start: 0, end: 4.5 } }],
  ['x', '-1', { errors: { start: UNREADABLE_TIME, end: UNREADABLE_TIME } }],
  ['0:05', '0:05', { errors: { end: 'The part must end after it begins.' } }],
  ['', '0', { errors: { end: 'The part must end after it begins.' } }],
])('from %j to %j', (start, end, expected) => {
  expect(trimRequest({ start, end })).toEqual(expected);
});

test('the form shows a request', () => {
  expect(trimForm()).toEqual({ start: '', end: '' });
  expect(trimForm({ start: 1.5, end: 62 })).toEqual({ start: '0:01.5', end: '1:02' });
});
