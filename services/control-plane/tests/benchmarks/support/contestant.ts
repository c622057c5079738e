import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A server in its own process on loopback. */
export class Contestant {
  readonly url: string;
  readonly #process: ChildProcess;

  /** Starts a program beside this file that calls `compete`, with the options of Node in BENCH_NODE_OPTIONS. Its log is discarded. */
  static async start(program: string, env: Record<string, string>): Promise<Contestant> {
    const child = fork(join(import.meta.dirname, program), {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
      execArgv: (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter((option) => option !== ''),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${code} before it served`);
    });
    const [{ port }] = await Promise.race([once(child, 'message'), ended]);
    return new Contestant(`http://127.0.0.1:${port}`, child);
  }

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#process = child;
  }

  /** CPU time used so far, in microseconds. */
  async cpuMicros(): Promise<number> {
    const response = once(this.#process, 'message');
    this.#process.send('cpu');
    const [{ cpuMicros }] = await response;
    return cpuMicros;
  }

  /** Resident memory, in bytes. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.#process.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async stop(): Promise<void> {
    // It has ended already.
    if (!this.#process.connected) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

/** Called by the program: sends its port, sends its CPU time on request, and ends with the benchmark. */
export function compete(port: number): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
  });
  process.once('disconnect', () => process.exit());
  process.send?.({ port });
}
