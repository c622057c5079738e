import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { describe, expect, jest, test } from '@jest/globals';
import { publishResult, removeStored, repeatUntilResponse } from './results.ts';
import { WorkObsoleteError } from './work-lease.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

/** A function that fails this often, and then resolves with the value. */
function failing<T>(failures: number, value: T) {
  let left = failures;
  return jest.fn(async () => {
    left -= 1;
    if (left >= 0) throw new Error('Unreachable');
    return value;
  });
}

describe('a request to the control plane', () => {
  const responseTo = (request: () => Promise<string | null>, signal = new AbortController().signal) =>
    repeatUntilResponse(request, { videoId: 'vid_1', logger, signal });

  test('has the response', async () => {
    expect(await responseTo(async () => null)).toBeNull();
  });

  test('is repeated until the control plane responds', async () => {
    expect(await responseTo(failing(1, 'claim'))).toBe('claim');
  });

  test('that waits for the control plane ends with the reason of the signal', async () => {
    const stopping = new AbortController();
    const waiting = responseTo(async () => {
      setImmediate(() => stopping.abort(new WorkObsoleteError('The video was deleted')));
      throw new Error('Unreachable');
    }, stopping.signal);
    await expect(waiting).rejects.toThrow(WorkObsoleteError);
  });
});

test('a result waits for the broker for up to two minutes', async () => {
  const result = createMessage('task.failed', {
    videoId: 'vid_1',
    attempt: 1,
    task: 0,
    try: 1,
    code: 'storage_failed',
    message: 'Refused',
    retryable: true,
  });
  const publish = jest.fn<MessageBus['publish']>(async () => {});
  await publishResult(result, { publish } as unknown as MessageBus);
  expect(publish.mock.calls).toEqual([[result, { limitMs: 120_000 }]]);
});

describe('the removal of what failed work has stored', () => {
  const removing = (deletePrefix: ObjectStore['deletePrefix']) =>
    removeStored('hls/', {}, { objects: { deletePrefix } as ObjectStore, logger });

  test('deletes the prefix', async () => {
    const deletePrefix = jest.fn(async () => {});
    await removing(deletePrefix);
    expect(deletePrefix.mock.calls).toEqual([['hls/']]);
  });

  test('does not reject if the object store fails', async () => {
    await removing(failing(1, undefined));
  });

  test('ends after five seconds if the object store does not respond', async () => {
    jest.useFakeTimers();
    try {
      let hasEnded = false;
      void removing(() => new Promise(() => {})).then(() => {
        hasEnded = true;
      });
      await jest.advanceTimersByTimeAsync(4999);
      expect(hasEnded).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(hasEnded).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });
});
