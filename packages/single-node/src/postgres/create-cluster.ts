import { execFile } from 'node:child_process';
import { chown, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import { accountForNewCluster, OWN_DIRECTORY, programCommand, runsIn } from './programs.ts';

const run = promisify(execFile);

/** The superuser of every embedded cluster. On a node nobody can connect as this role. */
export const SUPERUSER = 'framelane';

/**
 * Creates the cluster if it does not exist. It is created in a temporary directory and renamed when it is complete, so
 * that a crash leaves no incomplete cluster. It accepts no connection before `grantAccess`. Throws a SettingsError with what PostgreSQL says
 * if that fails, as on a full disk.
 */
export async function createClusterOnce(directory: string, { durable }: { durable: boolean }): Promise<void> {
  if (await exists(directory)) return;
  const temporary = `${directory}.new`;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const account = await accountForNewCluster();
  const cluster = join(temporary, 'cluster');
  await mkdir(cluster, { mode: 0o700 });
  await chown(cluster, account.uid, account.gid);
  const [command, ...args] = await programCommand('initdb', account);
  await run(
    command,
    [
      ...args,
      `--pgdata=${OWN_DIRECTORY}`,
      `--username=${SUPERUSER}`,
      '--auth=reject',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      ...(durable ? [] : ['--no-sync']),
    ],
    runsIn(cluster),
  ).catch((cause: Error & { stderr?: string }) => {
    const reason = cause.stderr?.trim() || cause.message;
    throw new SettingsError(`PostgreSQL cannot create its data in ${directory}:\n${reason}`, { cause });
  });
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
