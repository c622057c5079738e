import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Logger } from './logger.ts';
import { reportUnavailable, untilAvailable } from './until-available.ts';

describe('the wait of a start for another system', () => {
  let lines: object[];
  let stopping: AbortController;
  let wait: { setting: string; logger: Logger; signal: AbortSignal };

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    stopping = new AbortController();
    const log = (level: string) => (event: string, fields: object) => lines.push({ level, event, ...fields });
    const logger = { info: log('info'), warn: log('warn') } as unknown as Logger;
    wait = { setting: 'DATABASE_URL', logger, signal: stopping.signal };
  });
  afterEach(() => void jest.useRealTimers());

  const refused = new Error('failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:5432') });

  test('says which setting, why and for how long, every 30 seconds, and when it ends', async () => {
    let attempts = 0;
    const result = untilAvailable(async () => {
      attempts += 1;
      if (attempts <= 40) throw refused;
      return 'connected';
    }, wait);
    await jest.advanceTimersByTimeAsync(40_000);
    expect(await result).toBe('connected');
    const waiting = {
      level: 'warn',
      event: 'start.waiting',
      setting: 'DATABASE_URL',
      detail: 'connect ECONNREFUSED 127.0.0.1:5432',
    };
    expect(lines).toEqual([
      { ...waiting, waitedSeconds: 0 },
      { ...waiting, waitedSeconds: 30 },
      { level: 'info', event: 'start.available', setting: 'DATABASE_URL', waitedSeconds: 40 },
    ]);
  });

  test('says when the reason changes', async () => {
    const reasons = ['refused', 'refused', 'no such host', 'no such host'];
    const result = untilAvailable(async () => {
      const reason = reasons.shift();
      if (reason !== undefined) throw new Error(reason);
    }, wait);
    await jest.advanceTimersByTimeAsync(5_000);
    await result;
    expect(lines).toMatchObject([
      { event: 'start.waiting', detail: 'refused', waitedSeconds: 0 },
      { event: 'start.waiting', detail: 'no such host', waitedSeconds: 2 },
      { event: 'start.available', waitedSeconds: 4 },
    ]);
  });

  test('logs nothing if there is no wait', async () => {
    expect(await untilAvailable(async () => 1, wait)).toBe(1);
    expect(lines).toEqual([]);
  });

  test('ends with an error that a retry does not solve', async () => {
    const failing = untilAvailable(
      () => Promise.reject(refused),
      wait,
      () => false,
    );
    await expect(failing).rejects.toBe(refused);
    expect(lines).toEqual([]);
  });

  test.each([
    ['between two attempts', () => Promise.reject(refused)],
    ['during an attempt', () => new Promise<void>(() => {})],
  ])('ends at once when the process is stopped %s', async (_, attempt) => {
    const waiting = untilAvailable(attempt, wait);
    await jest.advanceTimersByTimeAsync(500);
    stopping.abort();
    await expect(waiting).rejects.toBe(stopping.signal.reason);
  });

  test('is reported for each system that a service can do without for a while', async () => {
    let isQueueReady = false;
    const queue = async () => {
      if (!isQueueReady) throw refused;
    };
    reportUnavailable({ AMQP_URL: queue, S3_ENDPOINT: async () => {} }, wait);
    await jest.advanceTimersByTimeAsync(2_500);
    isQueueReady = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(lines).toMatchObject([
      { event: 'start.waiting', setting: 'AMQP_URL' },
      { event: 'start.available', setting: 'AMQP_URL', waitedSeconds: 2 },
    ]);
  });
});
