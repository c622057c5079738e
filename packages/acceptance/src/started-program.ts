import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '@framelane/test-kit/until';

/** A Node program that runs until it is stopped. */
export class StartedProgram {
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;
  #hasExited = false;
  #output = '';

  /** Runs a file in its directory. `env` extends the environment of this process. */
  constructor(directory: string, file: string, env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [file], {
      cwd: directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const append = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    this.#process.stdout?.on('data', append);
    this.#process.stderr?.on('data', append);
    this.#exit = once(this.#process, 'close').then(() => {
      this.#hasExited = true;
    });
  }

  /** Waits until the output matches. Throws an error with the output after a timeout, or when the program has exited. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const details = () => this.#output;
    await until(() => this.#hasExited || pattern.test(this.#output), { what: String(pattern), details });
    const match = pattern.exec(this.#output);
    if (match === null) throw new Error(`The program exited without ${pattern}. ${this.#output}`);
    return match;
  }

  /** Sends SIGTERM and waits for the exit. Resolves at once if the program has already exited. */
  async stop(): Promise<void> {
    this.#process.kill();
    await this.#exit;
  }
}
