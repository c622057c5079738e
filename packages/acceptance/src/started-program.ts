import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '@framelane/test-kit/until';

/** A Node program that runs until it is stopped. */
export class StartedProgram {
  readonly #process: ChildProcess;
  #output = '';

  /** Runs a file in its directory. `env` extends the environment of this process. */
  constructor(directory: string, file: string, env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [file], {
      cwd: directory,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    this.#process.stdout?.on('data', keep);
    this.#process.stderr?.on('data', keep);
  }

  /** Waits until the output matches. Throws an error with the output after a timeout. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return until(async () => pattern.exec(this.#output)).catch((error) => {
      throw new Error(this.#output, { cause: error });
    });
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await once(this.#process, 'exit');
  }
}
