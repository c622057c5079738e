import { randomBytes } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { createLogger } from '@framelane/service-kit/logger';
import pg from 'pg';
import { type Database, openDatabase, openPool } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrations.ts';

/** A new database on the shared PostgreSQL. Its role owns it and is no superuser, as in deployments. */
export async function createTestDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env.TEST_DATABASE_URL;
  if (server === undefined)
    throw new Error('TEST_DATABASE_URL is not set; run the integration project of jest');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(server, `create role ${name} login password '${name}'`);
  await execute(server, `create database ${name} owner ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  url.username = name;
  url.password = name;
  const drop = async () => {
    await execute(server, `drop database ${name} with (force)`);
    await execute(server, `drop role ${name}`);
  };
  return { url: url.href, drop };
}

/** A new, migrated and opened database for tests of stores and services without a control plane. */
export async function openTestDatabase(): Promise<{ db: Database; close: () => Promise<void> }> {
  const { url, drop } = await createTestDatabase();
  const db = openDatabase(openPool(url, createLogger({ service: 'test', level: 'silent' })));
  await migrateToLatest(db);
  const close = async () => {
    await db.destroy();
    await drop();
  };
  return { db, close };
}

/** Inserts a workspace, and resolves with its id. */
export async function insertWorkspace(db: Database): Promise<string> {
  const id = newId('ws');
  await db.insertInto('workspaces').values({ id, name: 'Any' }).execute();
  return id;
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
