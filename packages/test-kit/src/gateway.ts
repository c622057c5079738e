import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, isListening } from './free-ports.ts';
import { Nginx, nginxObstacle } from './nginx.ts';
import { until } from './until.ts';

const CONFIGURATIONS = join(import.meta.dirname, '../../../infra/docker');

/** Why this machine cannot run the gateway; null if it can. */
export function gatewayObstacle(): string | null {
  return spawnSync('haproxy', ['-v']).status === 0 ? nginxObstacle() : 'HAProxy is not installed';
}

/** The gateway of docker-compose.yml, on free ports. It checks its servers ten times as often, to make tests faster. */
export class Gateway {
  /** Port of the API. */
  readonly api: number;
  /** Port for uploads. */
  readonly uploads: number;
  readonly #nginx: Nginx;
  readonly #process: ChildProcess;
  readonly #folder: string;

  /**
   * Resolves when HAProxy and nginx listen; HAProxy may not have checked its servers then. In containers it finds them by their
   * name, here they have the given ports of the loopback interface. `cacheSeconds` is the time between two checks of a
   * cached segment.
   */
  static async start(
    { controlPlane, engines }: { controlPlane: number; engines: number[] },
    { cacheSeconds = 60 } = {},
  ): Promise<Gateway> {
    const [api = 0, apiInside, uploads = 0, health] = await freePorts(4);
    const servers = engines.map((port, index) => `server engine-${index + 1} 127.0.0.1:${port}`);
    const configuration = (await readFile(join(CONFIGURATIONS, 'haproxy.cfg'), 'utf8'))
      .replace(':8078', `:${apiInside}`)
      .replace(':8090', `127.0.0.1:${uploads}`)
      .replace(':8079', `:${health}`)
      .replace('check inter 2s', 'check inter 200ms')
      .replaceAll(/^ *server-template engine .*$/gm, servers.join('\n'));
    const folder = await mkdtemp(join(tmpdir(), 'framelane-gateway-'));
    const path = join(folder, 'haproxy.cfg');
    await writeFile(path, configuration);
    const nginx = await Nginx.start(api, async (own) =>
      (await readFile(join(CONFIGURATIONS, 'nginx.conf'), 'utf8'))
        .replace('listen 8080', `listen 127.0.0.1:${api}`)
        .replace(':8078', `:${apiInside}`)
        .replace('200 1m', `200 ${cacheSeconds}s`)
        .replace('/tmp/nginx.pid', `${own}/nginx.pid`)
        .replaceAll('/var/cache/framelane', own),
    );
    const program = spawn('haproxy', ['-db', '-f', path], {
      env: {
        PATH: process.env.PATH,
        CONTROL_PLANE: `127.0.0.1:${controlPlane}`,
        TRUSTED_PROXIES: '127.0.0.1/32',
        HARD_STOP_SECONDS: '45',
      },
      stdio: 'ignore',
    });
    const gateway = new Gateway({ api, uploads }, { haproxy: program, nginx, folder });
    try {
      await until(() => isListening(gateway.uploads), { what: 'the gateway listens' });
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  private constructor(
    ports: { api: number; uploads: number },
    parts: { haproxy: ChildProcess; nginx: Nginx; folder: string },
  ) {
    this.api = ports.api;
    this.uploads = ports.uploads;
    this.#process = parts.haproxy;
    this.#nginx = parts.nginx;
    this.#folder = parts.folder;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    await this.#nginx.stop();
    await rm(this.#folder, { recursive: true });
  }
}
