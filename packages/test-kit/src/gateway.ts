import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, isListening } from './free-ports.ts';
import { until } from './until.ts';

const CONFIGURATION = join(import.meta.dirname, '../../../infra/docker/haproxy.cfg');

/** Why this machine cannot run the gateway; null if it can. */
export function gatewayObstacle(): string | null {
  return spawnSync('haproxy', ['-v']).status === 0 ? null : 'HAProxy is not installed';
}

/** The gateway of docker-compose.yml, on free ports. It checks its servers ten times as often, to make tests faster. */
export class Gateway {
  /** Port for uploads. */
  readonly uploads: number;
  readonly #process: ChildProcess;
  readonly #folder: string;

  /**
   * Resolves when HAProxy listens; it may not have checked its servers then. In containers it finds them by their name, here
   * they have the given ports of the loopback interface.
   */
  static async start({
    controlPlane,
    engines,
  }: {
    controlPlane: number;
    engines: number[];
  }): Promise<Gateway> {
    const [api, uploads, health] = await freePorts(3);
    const servers = engines.map((port, index) => `server engine-${index + 1} 127.0.0.1:${port}`);
    const configuration = (await readFile(CONFIGURATION, 'utf8'))
      .replace(':8080', `127.0.0.1:${api}`)
      .replace(':8090', `127.0.0.1:${uploads}`)
      .replace(':8079', `:${health}`)
      .replace('check inter 2s', 'check inter 200ms')
      .replaceAll(/^ *server-template engine .*$/gm, servers.join('\n'));
    const folder = await mkdtemp(join(tmpdir(), 'framelane-gateway-'));
    const path = join(folder, 'haproxy.cfg');
    await writeFile(path, configuration);
    const program = spawn('haproxy', ['-db', '-f', path], {
      env: {
        PATH: process.env.PATH,
        CONTROL_PLANE: `127.0.0.1:${controlPlane}`,
        TRUSTED_PROXIES: '127.0.0.1/32',
        HARD_STOP_SECONDS: '45',
      },
      stdio: 'ignore',
    });
    const gateway = new Gateway(uploads as number, program, folder);
    try {
      await until(() => isListening(gateway.uploads), { what: 'the gateway listens' });
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  private constructor(uploads: number, program: ChildProcess, folder: string) {
    this.uploads = uploads;
    this.#process = program;
    this.#folder = folder;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true });
  }
}
