import { access } from 'node:fs/promises';
import { SettingsError } from '@framelane/service-kit/settings';
import { lockDataDir } from './data-dir.ts';
import { embeddedPostgresUrl, startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { DATABASE, ensureDatabase } from './postgres/ensure-database.ts';
import { runningPort } from './postgres/running-port.ts';
import { keepSecrets } from './secrets.ts';
import type { DataDir, SingleNodeSettings } from './settings.ts';

/** A database for a while; `release` says that the while is over. */
export type BorrowedDatabase = { url: string; release(): Promise<void> };

/**
 * Finds the database of a single node for a process beside it: the one given from outside; or the embedded one of the
 * node that runs; or, while no node runs, the embedded one started for the purpose. Throws a SettingsError when there has
 * never been a node.
 */
export async function borrowDatabase({
  databaseUrl,
  dataDir,
}: Pick<SingleNodeSettings, 'databaseUrl' | 'dataDir'>): Promise<BorrowedDatabase> {
  if (databaseUrl !== undefined) return { url: databaseUrl, release: async () => {} };
  const everStarted = await access(dataDir.secrets).then(
    () => true,
    () => false,
  );
  if (!everStarted) {
    throw new SettingsError(
      `There is no Framelane in ${dataDir.root}. Start it once with npm start, or set DATA_DIR or DATABASE_URL to where it is.`,
    );
  }
  const { databasePassword } = await keepSecrets(dataDir);
  const unlock = await lockDataDir(dataDir.root).catch((error: unknown) => {
    if (error instanceof SettingsError) return undefined;
    throw error;
  });
  return unlock === undefined
    ? await ofRunningNode(dataDir, databasePassword)
    : await startedForUs(dataDir, databasePassword, unlock);
}

async function ofRunningNode({ postgres, root }: DataDir, password: string): Promise<BorrowedDatabase> {
  const port = await runningPort(postgres);
  if (port === undefined) {
    throw new SettingsError(
      `The Framelane on ${root} is starting or stopping, or uses another database: wait, or set DATABASE_URL.`,
    );
  }
  return { url: embeddedPostgresUrl({ port, password, database: DATABASE }), release: async () => {} };
}

async function startedForUs(
  { postgres }: DataDir,
  password: string,
  unlock: () => Promise<void>,
): Promise<BorrowedDatabase> {
  try {
    const server = await startEmbeddedPostgres({ directory: postgres, password, durable: true });
    const release = async () => {
      await server.stop();
      await unlock();
    };
    try {
      await ensureDatabase(server.url('postgres'), DATABASE);
      return { url: server.url(DATABASE), release };
    } catch (error) {
      await server.stop();
      throw error;
    }
  } catch (error) {
    await unlock();
    throw error;
  }
}
