import dns from 'node:dns';
import { afterEach, expect, jest, test } from '@jest/globals';
import { assertReachable } from './database.ts';

afterEach(() => void jest.restoreAllMocks());

test('a database at a host name with several addresses is reported with the reason', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  jest
    .spyOn(dns, 'lookup')
    .mockImplementation(((_host: string, _options: object, done: CallableFunction) =>
      done(null, addresses)) as never);
  await expect(assertReachable('postgres://user:hush@db.example:1/framelane')).rejects.toThrow(
    'DATABASE_URL: cannot connect to this database (ECONNREFUSED)',
  );
});
