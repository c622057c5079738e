import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '@framelane/test-kit/until';
import { ServiceLog } from './service-log.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A service as a process that tests kill and start again on the same port. */
export class ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** Where it serves its metrics. */
  readonly internalUrl: string;
  /** Since the first start. */
  readonly log = new ServiceLog();
  readonly #program: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #expectedToEnd = false;
  #ownDeaths = 0;

  /** @param options.main path of the service's program, relative to the root of the project. */
  constructor(options: {
    name: string;
    main: string;
    args?: readonly string[];
    url: string;
    internalUrl: string;
    env: NodeJS.ProcessEnv;
  }) {
    this.name = options.name;
    this.url = options.url;
    this.internalUrl = options.internalUrl;
    this.#program = [resolve(ROOT, options.main), ...(options.args ?? [])];
    this.#env = options.env;
  }

  /** How often it ended without `end`. */
  get ownDeaths(): number {
    return this.#ownDeaths;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it without waiting, with a prefix such as taskset if given. */
  launch(by: readonly string[] = []): void {
    this.#expectedToEnd = false;
    const [program = process.execPath, ...args] = [...by, process.execPath, ...this.#program];
    const child = spawn(program, args, {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => this.log.add(line));
    child.once('exit', () => {
      if (!this.#expectedToEnd) this.#ownDeaths += 1;
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
  }

  /** Whether /readyz responds with success. */
  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`);
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** Resolves when /readyz responds with success. */
  async ready(): Promise<void> {
    await until(() => this.isReady(), {
      what: `${this.name} ready`,
      details: () => this.log.text.slice(-3000),
    });
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  /** Stops or continues the programs that the service runs, and their children. */
  async signalPrograms(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    // Each leads a process group.
    for (const program of await this.#programs()) sendSignal(-program, signal);
  }

  /** Whether it runs a stopped program. One that ended before the signal does not count. */
  async hasStoppedProgram(): Promise<boolean> {
    const states = await Promise.all((await this.#programs()).map(stateOf));
    return states.includes('T');
  }

  /** Sends a signal and waits for the exit. Resolves with the exit code, null when the signal killed it. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    this.#expectedToEnd = true;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = await exited;
    return code;
  }

  /** The process ids of the programs that it runs. */
  async #programs(): Promise<number[]> {
    const children = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  }
}

/** Sends a signal to a process or process group, unless it has ended. */
function sendSignal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The state of a process as in proc_pid_stat(5), such as T for stopped; undefined if it has ended. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /.*\) (\w)/.exec(stat)?.[1];
}
