import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, isListening } from './free-ports.ts';
import { NGINX_USER, nginxObstacle } from './nginx.ts';
import { until } from './until.ts';

const CONFIGURATIONS = join(import.meta.dirname, '../../../infra/docker');

/** Why this machine cannot run the gateway; null if it can. */
export function gatewayObstacle(): string | null {
  return spawnSync('haproxy', ['-v']).status === 0 ? nginxObstacle() : 'HAProxy is not installed';
}

/**
 * The gateway of docker-compose.yml, on free ports. It checks its servers ten times as often, and ends responses and uploads in
 * progress sooner at a stop, to make tests faster.
 */
export class Gateway {
  /** Port of the API. */
  readonly api: number;
  /** Port for uploads. */
  readonly uploads: number;
  /** Its error messages so far. */
  messages = '';
  readonly #process: ChildProcess;
  readonly #closed: Promise<number | null>;
  readonly #folder: string;

  /**
   * Resolves when HAProxy and nginx listen. HAProxy may not have checked its servers yet. Here, the servers have the given ports of the
   * loopback interface; in containers, HAProxy finds them by name. `cacheSeconds` is the time between two checks of a cached segment.
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
    const nginx = (await readFile(join(CONFIGURATIONS, 'nginx.conf'), 'utf8'))
      .replace('listen 8080', `listen 127.0.0.1:${api}`)
      .replace(':8078', `:${apiInside}`)
      .replace('worker_shutdown_timeout 30s', 'worker_shutdown_timeout 8s')
      .replace('200 1m', `200 ${cacheSeconds}s`)
      .replaceAll(/\/tmp|\/var\/cache\/framelane/g, folder);
    const script = (await readFile(join(CONFIGURATIONS, 'gateway.sh'), 'utf8'))
      .replaceAll(/\/tmp|\/etc\/haproxy/g, folder)
      .replace('/etc/framelane/nginx.conf', join(folder, 'nginx.conf.in'))
      .replace("daemon off;'", `daemon off; ${NGINX_USER}'`);
    await writeFile(join(folder, 'haproxy.cfg'), configuration);
    await writeFile(join(folder, 'nginx.conf.in'), nginx);
    const program = spawn('bash', ['-c', script], {
      env: {
        PATH: process.env.PATH,
        CONTROL_PLANE: `127.0.0.1:${controlPlane}`,
        // Empty, as from an .env file: the gateway has its defaults then.
        TRUSTED_PROXIES: '',
        GATEWAY_CACHE_GIB: '',
        PUBLIC_URL: 'https://video.example.com',
        HARD_STOP_SECONDS: '2',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const gateway = new Gateway({ api, uploads }, program, folder);
    try {
      for (const port of [api, uploads]) {
        await until(() => isListening(port), {
          what: 'the gateway listens',
          details: () => gateway.messages,
        });
      }
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  private constructor(ports: { api: number; uploads: number }, program: ChildProcess, folder: string) {
    this.api = ports.api;
    this.uploads = ports.uploads;
    this.#process = program;
    this.#closed = once(program, 'close').then(([status]) => status);
    this.#folder = folder;
    program.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.messages += text;
    });
  }

  /** Stops it as Docker does, and resolves with its exit status. */
  async stop(): Promise<number | null> {
    this.#process.kill('SIGUSR1');
    const status = await this.#closed;
    await rm(this.#folder, { recursive: true, force: true });
    return status;
  }
}
