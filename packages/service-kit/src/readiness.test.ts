import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { type ReadinessChecks, readiness } from './readiness.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** What is answered, once it is. */
function answerOf(checks: ReadinessChecks, handler = readiness(checks)): { status?: number; body?: unknown } {
  const answer: { status?: number; body?: unknown } = {};
  const res = {
    status: (status: number) => {
      answer.status = status;
      return res;
    },
    set: () => res,
    json: (body: unknown) => {
      answer.body = body;
    },
  };
  void handler({} as Request, res as unknown as Response, () => {});
  return answer;
}

const works = async () => {};
const fails = () => Promise.reject(new Error('away'));
const hangs = () => new Promise<void>(() => {});

test('tells what does not work', async () => {
  const ready = answerOf({ database: works, queue: works });
  const unready = answerOf({ database: works, queue: fails });
  await jest.advanceTimersByTimeAsync(0);
  expect(ready).toEqual({ status: 200, body: { status: 'ready', missing: [] } });
  expect(unready).toEqual({ status: 503, body: { status: 'unavailable', missing: ['queue'] } });
});

test('does not wait for what never answers', async () => {
  const answer = answerOf({ database: hangs, queue: works });
  await jest.advanceTimersByTimeAsync(2_900);
  expect(answer.status).toBeUndefined();
  await jest.advanceTimersByTimeAsync(200);
  expect(answer).toEqual({ status: 503, body: { status: 'unavailable', missing: ['database'] } });
});

test('runs the checks once for all callers within a second', async () => {
  const check = jest.fn(works);
  const handler = readiness({ storage: check });
  const ask = async () => {
    const answer = answerOf({}, handler);
    await jest.advanceTimersByTimeAsync(0);
    return answer.status;
  };
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  await jest.advanceTimersByTimeAsync(900);
  check.mockRejectedValue(new Error('away'));
  expect(await ask()).toBe(200);
  expect(check).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(100);
  expect(await ask()).toBe(503);
  expect(check).toHaveBeenCalledTimes(2);
});
