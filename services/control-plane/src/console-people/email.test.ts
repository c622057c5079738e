import { expect, test } from '@jest/globals';
import { normaliseEmail } from './email.ts';

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  ['ada+studio@example.com', 'ada+studio@example.com'],
  // U+212A would become "k", and U+0130 "i" with a dot.
  ['\u212Aim@example.com', '\u212Aim@example.com'],
  ['\u0130da@example.com', '\u0130da@example.com'],
  ['ada', undefined],
  ['ada@', undefined],
  ['ada@b@example.com', undefined],
  ['ada @example.com', undefined],
  ['ada\u202E@example.com', undefined],
  [`${'a'.repeat(250)}@b.c`, 'a'.repeat(250).concat('@b.c')],
  [`${'a'.repeat(251)}@b.c`, undefined],
])('%p is stored as %p', (text, email) => {
  expect(normaliseEmail(text)).toBe(email);
});
