import { expect, test } from '@jest/globals';
import { isDatabaseUnavailable } from './database-unavailable.ts';

const systemError = (code: string) => Object.assign(new Error('The call failed'), { code });

test.each([
  ['nothing listens on its port', 'ECONNREFUSED'],
  ['it closes the connection', 'ECONNRESET'],
  ['it closes the connection during a request', 'EPIPE'],
  ['it does not respond', 'ETIMEDOUT'],
  ['its name does not exist', 'ENOTFOUND'],
  ['the DNS server does not respond', 'EAI_AGAIN'],
  ['there is no route to its network', 'ENETUNREACH'],
  ['its machine is away', 'EHOSTUNREACH'],
])('the database is unavailable if %s', (_, code) => {
  expect(isDatabaseUnavailable(systemError(code))).toBe(true);
});

test('the system error of another cause does not make the database unavailable', () => {
  expect(isDatabaseUnavailable(systemError('ENOENT'))).toBe(false);
});

test('a server that has become a standby is unavailable for writes', () => {
  const error = new Error('cannot execute UPDATE in a read-only transaction');
  expect(isDatabaseUnavailable(Object.assign(error, { code: '25006' }))).toBe(true);
});
