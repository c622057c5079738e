import { expect, test } from '@jest/globals';
import { isDatabaseUnavailable } from './database-unavailable.ts';

/** An error as Node throws it for a failed system call or DNS lookup. */
const systemError = (code: string) => Object.assign(new Error(`getaddrinfo ${code} postgres`), { code });

test.each([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'EPIPE',
])('the database is unavailable after the system error %s', (code) => {
  expect(isDatabaseUnavailable(systemError(code))).toBe(true);
});

test('the system error of another cause does not make the database unavailable', () => {
  expect(isDatabaseUnavailable(systemError('ENOENT'))).toBe(false);
});

test('a server that has become a standby is unavailable for writes', () => {
  const error = new Error('cannot execute UPDATE in a read-only transaction');
  expect(isDatabaseUnavailable(Object.assign(error, { code: '25006' }))).toBe(true);
});
