import { SettingsError } from '@framelane/service-kit/settings';
import { assertInitialised, lockDataDir, lockForCommand, type Unlock } from './data-dir.ts';
import { DATABASE } from './postgres/access.ts';
import { embeddedPostgresUrl, startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { runningPort } from './postgres/postmaster.ts';
import { readOrCreateSecrets } from './secrets.ts';
import type { DataDir, SingleNodeSettings } from './settings.ts';

/** Access to the database. Call `release` when it is no longer needed. */
export type BorrowedDatabase = { url: string; release(): Promise<void> };

/**
 * Gives another process access to the database of a single node: the database of DATABASE_URL if it is set, otherwise the embedded one.
 * Starts the embedded one if the node is not running. Waits until no other process borrows it. Throws a SettingsError when the data
 * directory was never used, or its node runs without an embedded PostgreSQL that accepts connections.
 */
export async function borrowDatabase({
  databaseUrl,
  dataDir,
}: Pick<SingleNodeSettings, 'databaseUrl' | 'dataDir'>): Promise<BorrowedDatabase> {
  if (databaseUrl !== undefined) return { url: databaseUrl, release: async () => {} };
  await assertInitialised(dataDir);
  const unlock = await lockForCommand(dataDir.root);
  try {
    const { url, release } = await borrowEmbeddedDatabase(dataDir);
    return { url, release: () => release().finally(unlock) };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function borrowEmbeddedDatabase(dataDir: DataDir): Promise<BorrowedDatabase> {
  const { databasePassword } = await readOrCreateSecrets(dataDir);
  const unlock = await lockDataDir(dataDir.root).catch((error: unknown) => {
    if (error instanceof SettingsError) return undefined;
    throw error;
  });
  return unlock === undefined
    ? await databaseOfRunningNode(dataDir, databasePassword)
    : await startDatabase(dataDir, databasePassword, unlock);
}

async function databaseOfRunningNode(
  { postgres, root }: DataDir,
  password: string,
): Promise<BorrowedDatabase> {
  const port = await runningPort(postgres);
  if (port === undefined) {
    throw new SettingsError(
      `The Framelane node on ${root} is starting or stopping, or uses another database. Wait, or set DATABASE_URL.`,
    );
  }
  return {
    url: embeddedPostgresUrl({ port, password, access: 'node', database: DATABASE }),
    release: async () => {},
  };
}

async function startDatabase(
  { postgres }: DataDir,
  password: string,
  unlock: Unlock,
): Promise<BorrowedDatabase> {
  try {
    const server = await startEmbeddedPostgres({ directory: postgres, password, access: 'node' });
    const release = async () => {
      await server.stop();
      await unlock();
    };
    return { url: server.url(), release };
  } catch (error) {
    await unlock();
    throw error;
  }
}
