import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import { FailureLimit } from './failure-limit.ts';

const valid = async () => 'verified';
const invalid = async () => {
  throw new Problem('invalid_api_key', 'No such key.');
};
/** Numbers the keys, so that each is new. */
let guesses = 0;
const guess = () => key(`guess ${guesses++}`);
const key = (secret: string) => ({ kind: 'key', secret }) as const;
const unavailable = async () => {
  throw new Problem('unavailable', 'Unavailable.');
};

async function statusOf(attempt: Promise<unknown>): Promise<number> {
  return attempt.then(
    () => 200,
    (error: Problem) => error.status,
  );
}

test('beyond the limit, keys of this network are refused without a lookup; other networks are not affected', async () => {
  const limit = new FailureLimit(2);
  const lookUp = (network: string) => statusOf(limit.guard(network, guess(), invalid));
  expect([await lookUp('a'), await lookUp('a'), await lookUp('a')]).toEqual([401, 401, 429]);
  expect(await statusOf(limit.guard('a', key('right'), valid))).toBe(429);
  expect(await lookUp('b')).toBe(401);
});

test('a key that was valid is looked up from any network, until it is invalid', async () => {
  const limit = new FailureLimit(1);
  await limit.guard('office', key('right'), valid);
  await statusOf(limit.guard('a', key('wrong'), invalid));
  expect(await statusOf(limit.guard('a', key('right'), valid))).toBe(200);
  expect(await statusOf(limit.guard('a', key('right'), invalid))).toBe(401);
  expect(await statusOf(limit.guard('a', guess(), invalid))).toBe(429);
});

test('an invalid key is looked up and counted once, for all networks', async () => {
  const limit = new FailureLimit(2);
  let lookups = 0;
  const revoked = () => {
    lookups += 1;
    return invalid();
  };
  for (const network of ['a', 'a', 'a', 'b']) {
    await expect(limit.guard(network, key('revoked'), revoked)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      message: 'No such key.',
    });
  }
  expect(lookups).toBe(1);
  expect(await statusOf(limit.guard('a', key('successor'), valid))).toBe(200);
  expect(await statusOf(limit.guard('a', guess(), invalid))).toBe(401);
  expect(await statusOf(limit.guard('a', guess(), invalid))).toBe(429);
  expect(await statusOf(limit.guard('a', key('revoked'), revoked))).toBe(401);
});

test('only invalid keys count', async () => {
  const limit = new FailureLimit(1);
  for (const verify of [valid, unavailable, unavailable])
    await statusOf(limit.guard('a', key('any'), verify));
  expect(await statusOf(limit.guard('a', key('other'), invalid))).toBe(401);
});

test('zero means no limit', async () => {
  const limit = new FailureLimit(0);
  for (let attempt = 0; attempt < 100; attempt++) await statusOf(limit.guard('a', guess(), invalid));
  expect(await statusOf(limit.guard('a', guess(), invalid))).toBe(401);
});
