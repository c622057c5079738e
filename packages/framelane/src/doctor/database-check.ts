import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findLastBackup } from '@framelane/control-plane/backups/backup-state.store';
import { databaseTime, openDatabase, openPool } from '@framelane/control-plane/db/database';
import { appliedMigrations } from '@framelane/control-plane/db/migrations';
import { createLogger } from '@framelane/service-kit/logger';
import { ownAccount } from '@framelane/service-kit/system-account';
import { borrowDatabase } from '@framelane/single-node/node-database';
import { programCommand } from '@framelane/single-node/postgres/programs';
import type { SingleNodeSettings } from '@framelane/single-node/settings';
import { backupFinding, clockFinding } from './database-findings.ts';
import { type Finding, passed } from './finding.ts';

/** Connects to the database, and starts the embedded one for that if the node is not running. Rejects if it is unavailable. */
export async function checkDatabase(settings: SingleNodeSettings, adminCommand: string): Promise<Finding[]> {
  const isNew = settings.databaseUrl === undefined && !(await exists(settings.dataDir.secrets));
  if (isNew) return [await checkPrograms()];
  const database = await borrowDatabase(settings);
  try {
    return await checkConnection(database.url, adminCommand);
  } finally {
    await database.release();
  }
}

/** The PostgreSQL that the first start uses. */
async function checkPrograms(): Promise<Finding> {
  const [command, ...args] = await programCommand('postgres', ownAccount());
  const { stdout } = await promisify(execFile)(command, [...args, '--version']);
  return passed('Database', `the first start creates it. ${stdout.trim()}`);
}

async function checkConnection(url: string, adminCommand: string): Promise<Finding[]> {
  const db = openDatabase(openPool(url, createLogger({ service: 'doctor', level: 'silent' })));
  try {
    const before = Date.now();
    const time = await databaseTime(db);
    const aheadSeconds = ((before + Date.now()) / 2 - time.getTime()) / 1000;
    const reachable = [passed('Database', 'reachable'), clockFinding(aheadSeconds)];
    // A new database has no schema before the first start.
    if ((await appliedMigrations(db)).length === 0) return reachable;
    return [...reachable, backupFinding(await findLastBackup(db), adminCommand)];
  } finally {
    await db.destroy();
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
