import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, 'control-plane-process.ts');

/** A control plane in its own process, on a database that others can share. It ends with the test process. */
export class SeparateControlPlane {
  readonly url: string;
  readonly internalUrl: string;
  readonly #process: ChildProcess;

  static async start(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Promise<SeparateControlPlane> {
    const child = spawn('setpriv', ['--pdeathsig=KILL', process.execPath, PROGRAM], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
        RATE_LIMIT_FAILURES_PER_MINUTE: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The control plane ended with ${code} before it served`);
    });
    const [ports] = await Promise.race([once(child.stdout, 'data'), ended]);
    const [port, internalPort] = String(ports).trim().split(' ');
    return new SeparateControlPlane(Number(port), Number(internalPort), child);
  }

  private constructor(port: number, internalPort: number, child: ChildProcess) {
    this.url = `http://127.0.0.1:${port}`;
    this.internalUrl = `http://127.0.0.1:${internalPort}`;
    this.#process = child;
  }

  /** Kills it; resolves when it has ended. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
