import { createMessage } from '@framelane/contracts/messages';
import type { MessageHandler } from '@framelane/message-bus/message-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, test } from '@jest/globals';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

const event = createMessage('upload.progress', { videoId: 'vid', transferId: 'xfr' });
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const timedOut = () =>
  Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });

/** Handles an event with retries. `attempts` counts the calls of the handler so far. */
function handle(handler: MessageHandler, { stopping = new AbortController().signal, pauseMs = 1 } = {}) {
  const run = { attempts: 0, result: Promise.resolve() };
  const counting: MessageHandler = (message, delivery) => {
    run.attempts += 1;
    return handler(message, delivery);
  };
  const logger = createLogger({ service: 'test', level: 'silent' });
  const retrying = retryWhileUnavailable(counting, { logger, stopping, pauseMs });
  run.result = retrying(event, { redelivered: false });
  return run;
}

test('retries until the database is available', async () => {
  let failures = 3;
  const run = handle(async () => {
    if (failures-- > 0) throw refused();
  });
  await run.result;
  expect(run.attempts).toBe(4);
});

test('retries a message four times if its statements exceed their time limit', async () => {
  const run = handle(() => Promise.reject(timedOut()));
  await expect(run.result).rejects.toThrow('statement timeout');
  expect(run.attempts).toBe(5);
});

test('does not retry after other errors', async () => {
  const run = handle(() => Promise.reject(new Error('makes no sense')));
  await expect(run.result).rejects.toThrow('makes no sense');
  expect(run.attempts).toBe(1);
});

test('ends the retries when the service stops', async () => {
  const stopping = new AbortController();
  const run = handle(() => Promise.reject(refused()), { stopping: stopping.signal, pauseMs: 600_000 });
  await new Promise(setImmediate);
  stopping.abort();
  await expect(run.result).rejects.toThrow('ECONNREFUSED');
  expect(run.attempts).toBe(2);
});
