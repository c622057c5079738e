import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { liveness } from './health.ts';
import { ThreadPoolProbe } from './thread-pool.ts';

describe('liveness', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('fails while the thread pool is blocked, probes once for concurrent requests, and again for later ones', async () => {
    const { promise, resolve: unblock } = Promise.withResolvers<void>();
    const work = jest.fn(() => promise);
    const handler = liveness(new ThreadPoolProbe(work));
    const responses: unknown[] = [];
    const ask = () => {
      const res = {
        status: (status: number) => {
          responses.push(status);
          return res;
        },
        set: () => res,
        json: () => res,
      };
      void handler({} as Request, res as unknown as Response, () => {});
    };
    ask();
    ask();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(responses).toEqual([503, 503]);
    ask();
    unblock();
    await jest.advanceTimersByTimeAsync(0);
    expect(responses).toEqual([503, 503, 200]);
    expect(work).toHaveBeenCalledTimes(1);
    ask();
    expect(work).toHaveBeenCalledTimes(2);
  });

  test('a rejected call still proves that the pool responds', async () => {
    expect(await new ThreadPoolProbe(() => Promise.reject(new Error('EIO'))).responds(1)).toBe(true);
  });
});

describe('a process with a blocked thread pool', () => {
  let directory: string;
  let child: ChildProcess | undefined;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'liveness-'));
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });

  test('reports it, and still ends at a signal', async () => {
    const program = join(directory, 'service.ts');
    await writeFile(
      program,
      `import { execFileSync } from 'node:child_process';
      import { open } from 'node:fs/promises';
      import { createServer } from 'node:http';
      import { runService } from '${join(import.meta.dirname, 'run-service.ts')}';
      import { liveness } from '${join(import.meta.dirname, 'health.ts')}';
      await runService('test', async () => {
        execFileSync('mkfifo', ['${directory}/fifo']);
        for (let at = 0; at < 4; at += 1) void open('${directory}/fifo');
        const server = createServer((req, res) => {
          const response = {
            status: (code) => { res.statusCode = code; return response; },
            set: () => response,
            json: () => res.end(),
          };
          liveness()(req, response, () => {});
        }).listen(0, '127.0.0.1', () => process.stdout.write('listening on ' + server.address().port + '\\n'));
      });`,
    );
    const service = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = service;
    const port = await new Promise<string>((resolve) => {
      createInterface({ input: service.stdout }).on('line', (line) => {
        const [, found] = /^listening on (\d+)$/.exec(line) ?? [];
        if (found) resolve(found);
      });
    });
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(503);
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    expect(await exited).toEqual([null, 'SIGKILL']);
  });
});
