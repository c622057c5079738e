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
 * Starts the embedded one if the node is not running; then it first waits until no other process borrows it. Throws a SettingsError when the data
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
    const started = await startUnlessRunning(dataDir);
    if (started !== undefined) return { url: started.url, release: () => started.release().finally(unlock) };
  } catch (error) {
    await unlock();
    throw error;
  }
  // Any number of commands can use the database of a running node.
  await unlock();
  return databaseOfRunningNode(dataDir);
}

/** Starts the embedded database; undefined if the node is running. */
async function startUnlessRunning(dataDir: DataDir): Promise<BorrowedDatabase | undefined> {
  const { databasePassword } = await readOrCreateSecrets(dataDir);
  const unlock = await lockDataDir(dataDir.root).catch((error: unknown) => {
    if (error instanceof SettingsError) return undefined;
    throw error;
  });
  return unlock && (await startDatabase(dataDir, databasePassword, unlock));
}

async function databaseOfRunningNode(dataDir: DataDir): Promise<BorrowedDatabase> {
  const { postgres, root } = dataDir;
  const { databasePassword: password } = await readOrCreateSecrets(dataDir);
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
