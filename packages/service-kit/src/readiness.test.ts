import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { type ReadinessChecks, readiness } from './readiness.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** What is answered, once it is. */
function answerOf(checks: ReadinessChecks): { status?: number; body?: unknown } {
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
  void readiness(checks)({} as Request, res as unknown as Response, () => {});
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
