import { execFile } from 'node:child_process';
import { chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresPrograms } from './programs.ts';
import { accountForNewCluster, runAsAccount } from './server-account.ts';

const run = promisify(execFile);

/** The superuser of every cluster we make. */
export const SUPERUSER = 'framelane';

/**
 * Makes the cluster unless it is there. It grows in a directory beside and is renamed when it is whole, so a crash on
 * the way leaves nothing that looks like a database.
 */
export async function createClusterOnce(
  directory: string,
  options: { password: string; durable: boolean },
): Promise<void> {
  if (await exists(directory)) return;
  const workshop = `${directory}.new`;
  await rm(workshop, { recursive: true, force: true });
  await mkdir(workshop, { recursive: true, mode: 0o700 });
  const { initdb } = await postgresPrograms();
  const { uid, gid } = await accountForNewCluster();
  const cluster = join(workshop, 'cluster');
  const passwordFile = join(workshop, 'password');
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  await mkdir(cluster, { mode: 0o700 });
  for (const path of [passwordFile, cluster, workshop]) await chown(path, uid, gid);

  const [command = '', ...prefix] = await runAsAccount({ uid, gid }, [initdb, join(directory, '..')]);
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
  await rm(workshop, { recursive: true });
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
