import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '@framelane/test-kit/until';

const ADMIN = join(import.meta.dirname, '../../single-node/src/cli/admin.ts');

/** A command of `npm run admin` as a process. */
export class AdminProcess {
  readonly #process: ChildProcess;
  readonly #exited: Promise<number | null>;
  #output = '';
  #errors = '';

  constructor(env: Record<string, string>, ...args: string[]) {
    this.#process = spawn(process.execPath, [ADMIN, ...args], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout?.on('data', (chunk) => {
      this.#output += chunk;
    });
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk;
    });
    this.#exited = once(this.#process, 'close').then(([code]) => code);
  }

  /** What it has reported so far. */
  get errors(): string {
    return this.#errors;
  }

  /** Waits for its end, and resolves with its exit code and output. */
  async ended(): Promise<{ code: number | null; output: string; errors: string }> {
    const code = await this.#exited;
    return { code, output: this.#output, errors: this.#errors };
  }

  /** Kills it once a condition is true. Resolves with whether it was running then. */
  async killWhen(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    const hasEnded = () => this.#process.exitCode !== null || this.#process.signalCode !== null;
    await until(async () => hasEnded() || (await condition()), {
      details: () => this.#errors,
      longestPauseMs: 5,
    });
    this.#process.kill('SIGKILL');
    return (await this.#exited) === null;
  }
}
