import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

const MAIN = join(import.meta.dirname, '../../single-node/src/main.ts');

type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** A single node as a process, as `npm start` runs it, on free ports. */
export class SingleNodeProcess {
  readonly baseUrl: string;
  readonly engineUrl: string;
  readonly dataDir: string;
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  #output = '';
  #log = '';

  /** Launches a node without waiting, with or without a terminal. It stops when this process ends. */
  static async spawn(
    dataDir: string,
    env: Record<string, string> = {},
    { terminal = false } = {},
  ): Promise<SingleNodeProcess> {
    const [port, enginePort] = await freePorts(2);
    const ports = { PORT: String(port), ENGINE_PORT: String(enginePort), ...env };
    return new SingleNodeProcess(dataDir, ports, terminal);
  }

  /** Starts a node and waits for the end of its banner. */
  static async start(dataDir: string, env: Record<string, string> = {}): Promise<SingleNodeProcess> {
    const node = await SingleNodeProcess.spawn(dataDir, env);
    await node.#untilReady();
    return node;
  }

  private constructor(
    dataDir: string,
    env: Record<string, string> & { PORT: string; ENGINE_PORT: string },
    terminal: boolean,
  ) {
    this.dataDir = dataDir;
    this.baseUrl = `http://localhost:${env.PORT}/v1`;
    this.engineUrl = `http://localhost:${env.ENGINE_PORT}`;
    const command = [process.execPath, MAIN];
    // `script` runs a program in a terminal and copies its output.
    const inTerminal = ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null'];
    this.#process = spawn('setpriv', ['--pdeathsig=TERM', ...(terminal ? inTerminal : command)], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATA_DIR: dataDir,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const append = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    this.#process.stdout?.on('data', append);
    this.#process.stderr?.on('data', append);
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#log += chunk.toString('utf8');
    });
    this.exited = once(this.#process, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** Its output so far. */
  get output(): string {
    return this.#output;
  }

  /** Its standard output so far: without a terminal, one JSON object per line. */
  get log(): string {
    return this.#log;
  }

  /** A value in the banner, such as `fact('Workspace')`. */
  fact(label: string): string {
    return new RegExp(`^ *${label} +(\\S+)`, 'm').exec(this.#output)?.[1] ?? '';
  }

  /** The API key of the first start. Without a terminal, the node writes it to a file. */
  get apiKey(): string {
    return readFileSync(join(this.dataDir, 'api-key'), 'utf8').trim();
  }

  /** The sign-in link to the console of this start. Without a terminal, the node writes it to a file. */
  get consoleLink(): string {
    return readFileSync(join(this.dataDir, 'console-link'), 'utf8').trim();
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends SIGTERM and waits for the exit. */
  async stop(): Promise<Exit> {
    this.kill('SIGTERM');
    return await this.exited;
  }

  async #untilReady(): Promise<void> {
    const ended = () => this.#process.exitCode !== null || this.#process.signalCode !== null;
    await until(() => this.#output.includes('Stop with Ctrl-C') || ended(), {
      what: 'the single node is ready',
      // A busy machine needs many times the usual five seconds.
      seconds: 150,
      details: () => this.#output,
    });
    if (ended()) throw new Error(`The single node did not start:\n${this.#output}`);
  }
}
