import { expect, test } from '@jest/globals';
import { TranscodeFailure } from '../transcode-failure.ts';
import { withStorageRetries } from './storage-retries.ts';

const refuse = () => Promise.reject(new Error('Refused'));

test('rejects with the reason of the signal when it aborts between or before attempts', async () => {
  const reason = new TranscodeFailure('storage_failed', 'Another segment', { retryable: true });
  const abort = new AbortController();
  const storing = withStorageRetries(refuse, abort.signal);
  setImmediate(() => abort.abort(reason));

  await expect(storing).rejects.toBe(reason);
  await expect(withStorageRetries(refuse, abort.signal)).rejects.toBe(reason);
});

test('retries a failed request', async () => {
  let attempts = 0;
  const store = async () => {
    attempts += 1;
    return attempts === 1 ? refuse() : 'stored';
  };
  expect(await withStorageRetries(store, new AbortController().signal)).toBe('stored');
});

test.each(['ENOSPC', 'EDQUOT'])('does not retry on a full disk (%s)', async (code) => {
  let attempts = 0;
  const store = () => {
    attempts += 1;
    return Promise.reject(Object.assign(new Error(code), { code }));
  };
  await expect(withStorageRetries(store, new AbortController().signal)).rejects.toMatchObject({
    code: 'internal_error',
    retryable: true,
    message: 'The engine ran out of disk space. Retry the video later.',
  });
  expect(attempts).toBe(1);
});
