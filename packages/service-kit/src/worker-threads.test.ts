import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ThreadTimeoutError, WorkerThreads } from './worker-threads.ts';

type Functions = {
  twice: (value: number) => number;
  fail: (message: string) => never;
  hang: (argument: null) => never;
};

const MODULE = `
export const twice = (value: number): number => 2 * value;
export const fail = (message: string) => { throw new RangeError(message); };
export const hang = () => { for (;;); };
`;

let folder: string;
let module: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-threads-'));
  await writeFile(join(folder, 'functions.ts'), MODULE);
  module = pathToFileURL(join(folder, 'functions.ts')).href;
});

afterAll(() => rm(folder, { recursive: true }));

const threads = (timeoutMs: number) =>
  new WorkerThreads<Functions>(module, { threads: 1, maxWaiting: 10, timeoutMs });

test('functions of a TypeScript module run in a thread, one after another', async () => {
  const pool = threads(60_000);
  const results = await Promise.all([1, 2, 3].map((value) => pool.run('a', 'twice', value)));
  expect(results).toEqual([2, 4, 6]);
  await expect(pool.run('a', 'fail', 'out of range')).rejects.toThrow('out of range');
  expect(await pool.run('a', 'twice', 4)).toBe(8);
});

test('work that takes too long is ended, does not block the event loop, and makes room for the next one', async () => {
  const pool = threads(1_000);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const hanging = pool.run('a', 'hang', null);
  const next = pool.run('b', 'twice', 5);
  await expect(hanging).rejects.toThrow(ThreadTimeoutError);
  expect(await next).toBe(10);
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(500);
});
