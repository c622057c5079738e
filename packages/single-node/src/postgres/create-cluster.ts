import { execFile } from 'node:child_process';
import { chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accountForNewCluster, postgresPrograms, setprivCommand } from './programs.ts';

const run = promisify(execFile);

/** The superuser of every embedded cluster. */
export const SUPERUSER = 'framelane';

/**
 * Creates the cluster if it does not exist. It is created in a temporary directory and renamed when it is complete, so
 * that a crash leaves no incomplete cluster.
 */
export async function createClusterOnce(
  directory: string,
  options: { password: string; durable: boolean },
): Promise<void> {
  if (await exists(directory)) return;
  const temporary = `${directory}.new`;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const { initdb } = await postgresPrograms();
  const { uid, gid } = await accountForNewCluster();
  const cluster = join(temporary, 'cluster');
  const passwordFile = join(temporary, 'password');
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  await mkdir(cluster, { mode: 0o700 });
  for (const path of [passwordFile, cluster, temporary]) await chown(path, uid, gid);

  const [command = '', ...prefix] = await setprivCommand({ uid, gid }, [initdb, join(directory, '..')]);
  await run(
    command,
    [
      ...prefix,
      initdb,
      `--pgdata=${cluster}`,
      `--pwfile=${passwordFile}`,
      `--username=${SUPERUSER}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      ...(options.durable ? [] : ['--no-sync']),
    ],
    { cwd: '/', env: { PATH: process.env.PATH, TZ: 'UTC' } },
  );
  await rename(cluster, directory);
  await rm(temporary, { recursive: true });
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
