import { expect, test } from '@jest/globals';
import { TranscodeFailure } from '../transcode-failure.ts';
import { withStorageRetries } from './storage-retries.ts';

const refuse = () => Promise.reject(new Error('Refused'));

test('rejects with the reason of the signal, also while it waits for the next try', async () => {
  const reason = new TranscodeFailure('storage_failed', 'Another segment', { retryable: true });
  const abort = new AbortController();
  const storing = withStorageRetries(refuse, abort.signal);
  setImmediate(() => abort.abort(reason));

  await expect(storing).rejects.toBe(reason);
  await expect(withStorageRetries(refuse, abort.signal)).rejects.toBe(reason);
});

test('stores what is refused at first', async () => {
  let tries = 0;
  const store = async () => {
    tries += 1;
    return tries === 1 ? refuse() : 'stored';
  };
  expect(await withStorageRetries(store, new AbortController().signal)).toBe('stored');
});

test.each(['ENOSPC', 'EDQUOT'])('asks once on a disk that is full (%s)', async (code) => {
  let tries = 0;
  const store = () => {
    tries += 1;
    return Promise.reject(Object.assign(new Error(code), { code }));
  };
  await expect(withStorageRetries(store, new AbortController().signal)).rejects.toMatchObject({
    ...{
      code: 'internal_error',
      retryable: true,
      message: 'The engine ran out of disk space. Retry the video later.',
    },
  });
  expect(tries).toBe(1);
});
