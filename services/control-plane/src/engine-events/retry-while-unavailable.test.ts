import { createMessage } from '@framelane/contracts/messages';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, test } from '@jest/globals';
import { waitForDatabase } from './wait-for-database.ts';

const logger = createLogger({ service: 'test' });
logger.silent = true;

const event = createMessage('upload.progress', { videoId: 'vid', transferId: 'xfr', bytes: 1 });
const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('keeps a message until the database is back', async () => {
  let calls = 0;
  const handler = waitForDatabase(
    async () => {
      calls += 1;
      if (calls < 4) throw away();
    },
    { logger, stopping: new AbortController().signal, pauseMs: 1 },
  );

  await handler(event, { redelivered: false });

  expect(calls).toBe(4);
});

test('gives a message back that the database is too slow for again and again', async () => {
  let calls = 0;
  const handler = waitForDatabase(
    async () => {
      calls += 1;
      throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    },
    { logger, stopping: new AbortController().signal, pauseMs: 1 },
  );

  await expect(handler(event, { redelivered: false })).rejects.toThrow('statement timeout');
  expect(calls).toBe(5);
});

test('hands on every other failure at once', async () => {
  let calls = 0;
  const handler = waitForDatabase(
    async () => {
      calls += 1;
      throw new Error('makes no sense');
    },
    { logger, stopping: new AbortController().signal, pauseMs: 1 },
  );

  await expect(handler(event, { redelivered: false })).rejects.toThrow('makes no sense');
  expect(calls).toBe(1);
});

test('gives the message back when the service stops', async () => {
  const stopping = new AbortController();
  const handler = waitForDatabase(
    async () => {
      stopping.abort();
      throw away();
    },
    { logger, stopping: stopping.signal, pauseMs: 60_000 },
  );

  await expect(handler(event, { redelivered: false })).rejects.toThrow('ECONNREFUSED');
});
