import { expect, test } from '@jest/globals';
import { requestedTrim } from './requested-trim.ts';

test.each([
  [
    { start: 1.5, end: 4 },
    { start: 1.5, end: 4 },
  ],
  [{ start: 3 }, { start: 3, end: null }],
  [{ end: 0.1 }, { start: 0, end: 0.1 }],
  [
    { start: 1.1, end: 1.2 },
    { start: 1.1, end: 1.2 },
  ],
])('%j', (request, trim) => {
  expect(requestedTrim(request)).toEqual(trim);
});

test.each([{ start: 1, end: 1.0999 }, { start: 2, end: 1 }, { end: 0 }])('%j is refused', (request) => {
  expect(() => requestedTrim(request)).toThrow('body/trim/end must be at least 0.1 seconds after start');
});
