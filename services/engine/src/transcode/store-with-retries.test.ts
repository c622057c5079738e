import { expect, test } from '@jest/globals';
import { storeWithRetries } from './store-with-retries.ts';
import { TranscodeFailure } from './transcode-failure.ts';

const refuse = () => Promise.reject(new Error('Refused'));

test('rejects with the reason of the signal, also while it waits for the next try', async () => {
  const reason = new TranscodeFailure('storage_failed', 'Another segment', { retryable: true });
  const abort = new AbortController();
  const storing = storeWithRetries(refuse, abort.signal);
  setImmediate(() => abort.abort(reason));

  await expect(storing).rejects.toBe(reason);
  await expect(storeWithRetries(refuse, abort.signal)).rejects.toBe(reason);
});

test('stores what is refused at first', async () => {
  let tries = 0;
  const store = async () => {
    tries += 1;
    return tries === 1 ? refuse() : 'stored';
  };
  expect(await storeWithRetries(store, new AbortController().signal)).toBe('stored');
});
