import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import { FailureLimit } from './failure-limit.ts';

const good = async () => 'verified';
const bad = async () => {
  throw new Problem('invalid_api_key', 'No such key.');
};
/** Keys that nobody has sent yet. */
let guesses = 0;
const guess = () => `guess ${guesses++}`;
const away = async () => {
  throw new Problem('unavailable', 'Not now.');
};

async function statusOf(attempt: Promise<unknown>): Promise<number> {
  return attempt.then(
    () => 200,
    (error: Problem) => error.status,
  );
}

test('after too many failures nothing is looked up for this network, for others it is', async () => {
  const limit = new FailureLimit(2);
  const lookUp = (network: string) => statusOf(limit.guard(network, guess(), bad));
  expect([await lookUp('a'), await lookUp('a'), await lookUp('a')]).toEqual([401, 401, 429]);
  expect(await statusOf(limit.guard('a', 'right', good))).toBe(429);
  expect(await lookUp('b')).toBe(401);
});

test('a key that was good is looked up from anywhere, until it fails', async () => {
  const limit = new FailureLimit(1);
  await limit.guard('office', 'right', good);
  await statusOf(limit.guard('a', 'wrong', bad));
  expect(await statusOf(limit.guard('a', 'right', good))).toBe(200);
  expect(await statusOf(limit.guard('a', 'right', bad))).toBe(401);
  expect(await statusOf(limit.guard('a', guess(), bad))).toBe(429);
});

test('a refused key is looked up and counted once, however often and from wherever it comes', async () => {
  const limit = new FailureLimit(2);
  let lookups = 0;
  const revoked = () => {
    lookups += 1;
    return bad();
  };
  for (const network of ['a', 'a', 'a', 'b']) {
    await expect(limit.guard(network, 'revoked', revoked)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      message: 'No such key.',
    });
  }
  expect(lookups).toBe(1);
  expect(await statusOf(limit.guard('a', 'successor', good))).toBe(200);
  expect(await statusOf(limit.guard('a', guess(), bad))).toBe(401);
  expect(await statusOf(limit.guard('a', guess(), bad))).toBe(429);
  expect(await statusOf(limit.guard('a', 'revoked', revoked))).toBe(401);
});

test('only refused keys count', async () => {
  const limit = new FailureLimit(1);
  for (const verify of [good, away, away]) await statusOf(limit.guard('a', 'any', verify));
  expect(await statusOf(limit.guard('a', 'other', bad))).toBe(401);
});

test('zero is no limit', async () => {
  const limit = new FailureLimit(0);
  for (let attempt = 0; attempt < 100; attempt++) await statusOf(limit.guard('a', guess(), bad));
  expect(await statusOf(limit.guard('a', guess(), bad))).toBe(401);
});
