import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListening } from './free-ports.ts';
import { until } from './until.ts';

/** Why this machine cannot run nginx; null if it can. */
export function nginxObstacle(): string | null {
  return spawnSync('nginx', ['-v']).status === 0
    ? null
    : 'nginx is not installed (apt-get install nginx-light)';
}

/** A directive for nginx. As root, its workers would be another user, who cannot read the folders of tests. */
export const NGINX_USER = process.getuid?.() === 0 ? 'user root;' : '';

/** An nginx in the foreground, with a folder of its own for everything that it writes. */
export class Nginx {
  /** Where it keeps temporary files. A configuration may name it. */
  readonly folder: string;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;

  /** Resolves when nginx listens on `port`. `configuration` gets the folder and returns a whole nginx.conf. */
  static async start(
    port: number,
    configuration: (folder: string) => string | Promise<string>,
  ): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), 'framelane-nginx-'));
    const path = join(folder, 'nginx.conf');
    await writeFile(path, await configuration(folder));
    const program = spawn(
      'nginx',
      ['-p', folder, '-c', path, '-e', 'stderr', '-g', `daemon off; ${NGINX_USER}`],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const nginx = new Nginx(folder, program);
    try {
      await until(() => isListening(port), { what: 'nginx listens' });
    } catch (error) {
      await nginx.stop();
      throw error;
    }
    return nginx;
  }

  private constructor(folder: string, program: ChildProcess) {
    this.folder = folder;
    this.#process = program;
    this.#exited = once(program, 'exit');
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#exited;
    await rm(this.folder, { recursive: true });
  }
}

/** The directives that let nginx write only to `folder`, for the context http. */
export function temporaryPaths(folder: string): string {
  return ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
}
