import { Problem } from '@framelane/service-kit/problem';
import { describe, expect, test } from '@jest/globals';
import { TokenGuessLimit } from './token-guess-limit.ts';

/** Redeems a token with an error as its result. Resolves with the error that the client gets. */
async function redeem(limit: TokenGuessLimit, error: unknown, network = 'a'): Promise<unknown> {
  return limit.guard(network, () => Promise.reject(error)).catch((thrown: unknown) => thrown);
}

const unknownToken = new Problem('upload_token_invalid', 'No such token.');
const otherProblem = new Problem('upload_token_expired', 'Expired.');
const limited = expect.objectContaining({
  code: 'rate_limited',
  message: expect.stringContaining('had an unknown token. Retry in '),
});

describe('unknown upload tokens', () => {
  test('are 429 beyond the limit of their network', async () => {
    const limit = new TokenGuessLimit(2);
    const guesses = [];
    for (let guess = 0; guess < 4; guess++) guesses.push(await redeem(limit, unknownToken));
    expect(guesses).toEqual([unknownToken, unknownToken, limited, limited]);
    expect(await redeem(limit, unknownToken, 'b')).toBe(unknownToken);
  });

  test('do not affect valid ones in their network', async () => {
    const limit = new TokenGuessLimit(1);
    for (let guess = 0; guess < 3; guess++) await redeem(limit, unknownToken);
    expect(await limit.guard('a', async () => 'redeemed')).toBe('redeemed');
  });

  test('have no limit if it is zero', async () => {
    const limit = new TokenGuessLimit(0);
    expect([await redeem(limit, unknownToken), await redeem(limit, unknownToken)]).toEqual([
      unknownToken,
      unknownToken,
    ]);
  });

  test.each([
    ['another problem', otherProblem],
    ['an unforeseen error', Object.assign(new Error('Failed'), { code: 'upload_token_invalid' })],
  ])('are the only ones that count, and not %s', async (_, error) => {
    const limit = new TokenGuessLimit(1);
    for (let failure = 0; failure < 3; failure++) expect(await redeem(limit, error)).toBe(error);
    expect(await redeem(limit, unknownToken)).toBe(unknownToken);
    expect(await redeem(limit, unknownToken)).toEqual(limited);
  });
});
