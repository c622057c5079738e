import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { type ReadinessChecks, readiness } from './health.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The response of a handler, filled in once it responds. */
function responseOf(
  checks: ReadinessChecks,
  handler = readiness(checks),
): { status?: number; body?: unknown } {
  const response: { status?: number; body?: unknown } = {};
  const res = {
    status: (status: number) => {
      response.status = status;
      return res;
    },
    set: () => res,
    json: (body: unknown) => {
      response.body = body;
    },
  };
  void handler({} as Request, res as unknown as Response, () => {});
  return response;
}

const works = async () => {};
const fails = () => Promise.reject(new Error('unavailable'));
const hangs = () => new Promise<void>(() => {});

test('names the failed checks', async () => {
  const ready = responseOf({ database: works, queue: works });
  const unready = responseOf({ database: works, queue: fails });
  await jest.advanceTimersByTimeAsync(0);
  expect(ready).toEqual({ status: 200, body: { status: 'ready', missing: [] } });
  expect(unready).toEqual({ status: 503, body: { status: 'unavailable', missing: ['queue'] } });
});

test('does not wait for a check that hangs', async () => {
  const response = responseOf({ database: hangs, queue: works });
  await jest.advanceTimersByTimeAsync(2_900);
  expect(response.status).toBeUndefined();
  await jest.advanceTimersByTimeAsync(200);
  expect(response).toEqual({ status: 503, body: { status: 'unavailable', missing: ['database'] } });
});

test('runs the checks once for all requests within a second', async () => {
  const check = jest.fn(works);
  const handler = readiness({ storage: check });
  const ask = async () => {
    const response = responseOf({}, handler);
    await jest.advanceTimersByTimeAsync(0);
    return response.status;
  };
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  await jest.advanceTimersByTimeAsync(900);
  check.mockRejectedValue(new Error('unavailable'));
  expect(await ask()).toBe(200);
  expect(check).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(100);
  expect(await ask()).toBe(503);
  expect(check).toHaveBeenCalledTimes(2);
});
