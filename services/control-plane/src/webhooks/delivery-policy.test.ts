import { describe, expect, test } from '@jest/globals';
import { afterDeliveryAttempt, healthAfter } from './delivery-policy.ts';

const SCHEDULE = [0, 5, 300];
const DAY = 24 * 3600 * 1000;

describe('after an attempt', () => {
  const failed = (failures: number, retryAfterSeconds: number | null = null, random = 0.5) =>
    afterDeliveryAttempt(
      { failure: 'unexpected_status', failures, retryAfterSeconds },
      SCHEDULE,
      () => random,
    );

  test('a success ends the delivery', () => {
    const attempt = { failure: null, failures: 1, retryAfterSeconds: 60 };
    expect(afterDeliveryAttempt(attempt, SCHEDULE)).toBe('succeeded');
  });

  test('a failure is retried by the schedule, until it ends', () => {
    expect([1, 2, 3].map((failures) => failed(failures))).toEqual([
      { retryInSeconds: 5 },
      { retryInSeconds: 300 },
      'failed',
    ]);
  });

  test('pauses vary by 10 %', () => {
    expect([failed(2, null, 0), failed(2, null, 1)]).toEqual([
      { retryInSeconds: 270 },
      { retryInSeconds: 330 },
    ]);
  });

  test('Retry-After lengthens a pause; it neither shortens one nor adds attempts', () => {
    expect(failed(1, 60)).toEqual({ retryInSeconds: 60 });
    expect(failed(2, 60)).toEqual({ retryInSeconds: 300 });
    expect(failed(3, 60)).toBe('failed');
  });
});

describe('the health of an endpoint', () => {
  const start = new Date('2026-11-21T09:00:00Z');
  const later = (ms: number) => new Date(start.getTime() + ms);
  const failing = { consecutiveFailures: 4, failingSince: start };

  test('counts consecutive failures and keeps the time of the first', () => {
    const first = healthAfter(
      { consecutiveFailures: 0, failingSince: null },
      { failure: 'timeout', at: start },
    );
    expect(first).toEqual({ consecutiveFailures: 1, failingSince: start, disable: null });
    expect(healthAfter(first, { failure: 'timeout', at: later(1000) })).toEqual({
      consecutiveFailures: 2,
      failingSince: start,
      disable: null,
    });
  });

  test('is reset by one success, however late', () => {
    expect(healthAfter(failing, { failure: null, at: later(9 * DAY) })).toEqual({
      consecutiveFailures: 0,
      failingSince: null,
      disable: null,
    });
  });

  test.each([
    ['after almost five days', 5 * DAY - 1, null],
    ['after five days', 5 * DAY, 'failing'],
  ])('%s of failure', (_, ms, disable) => {
    expect(healthAfter(failing, { failure: 'timeout', at: later(ms) }).disable).toBe(disable);
  });

  test('410 disables at once', () => {
    expect(healthAfter(failing, { failure: 'gone', at: later(1) }).disable).toBe('gone');
  });
});
