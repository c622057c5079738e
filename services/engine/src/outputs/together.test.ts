import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { together } from './together.ts';

const { signal } = new AbortController();

test('both results', async () => {
  const results = together<[number, string]>(signal, [async () => 1, async () => 'b']);
  expect(await results).toEqual([1, 'b']);
});

test('a failure aborts the other work, and is thrown when that has ended', async () => {
  const failure = new Error('No space is left');
  let ended = false;
  const fails = async () => {
    throw failure;
  };
  const waits = async (aborted: AbortSignal) => {
    try {
      await setTimeout(60_000, undefined, { signal: aborted });
    } finally {
      await setTimeout(1);
      ended = true;
    }
  };
  await expect(together(signal, [waits, fails])).rejects.toBe(failure);
  expect(ended).toBe(true);
});

test('an abort from outside ends both', async () => {
  const abort = new AbortController();
  const reason = new Error('The engine stops');
  const waits = (aborted: AbortSignal) =>
    new Promise((_, reject) => aborted.addEventListener('abort', () => reject(aborted.reason)));
  const results = together(abort.signal, [waits, waits]);
  abort.abort(reason);
  await expect(results).rejects.toBe(reason);
});
