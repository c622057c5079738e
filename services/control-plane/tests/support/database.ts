import { randomBytes } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { createLogger } from '@framelane/service-kit/logger';
import pg from 'pg';
import { type Database, openDatabase, openPool } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrations.ts';
import { recordStatements } from './record-statements.ts';

if (process.env.WRITE_STATEMENTS) recordStatements(process.env.WRITE_STATEMENTS);

/** A database of its own for a test file. */
export type TestDatabase = { url: string; drop: () => Promise<void> };

/** A new database with the current schema: a copy of the template. Its role owns it and is no superuser, as in deployments. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase({ name: newName('test'), owner: templateName(), template: templateName() });
}

/** A new database without tables. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase({ name: newName('test'), owner: templateName(), template: 'template1' });
}

/** A new database that is open, for tests of stores and services without a control plane. */
export async function openTestDatabase(): Promise<{ db: Database; close: () => Promise<void> }> {
  const { url, drop } = await createTestDatabase();
  const db = openQuietly(url);
  const close = async () => {
    await db.destroy();
    await drop();
  };
  return { db, close };
}

/** Creates the template of the test databases, and resolves with its name. Its role has the same name. */
export async function createTemplate(): Promise<string> {
  const name = newName('template');
  await execute(serverUrl(), `create role ${name} login password '${name}'`);
  const { url } = await createDatabase({ template: 'template1', name, owner: name });
  const db = openQuietly(url);
  await migrateToLatest(db);
  await db.destroy();
  return name;
}

/** Drops the template that `createTemplate` has created, and its copies: a test that was killed leaves one behind. */
export async function dropTemplate(name: string): Promise<void> {
  const owned = `select datname from pg_database join pg_roles r on r.oid = datdba where rolname = '${name}'`;
  const copies = await execute(serverUrl(), owned);
  await execute(
    serverUrl(),
    ...copies.map(({ datname }) => `drop database ${datname} with (force)`),
    `drop role ${name}`,
  );
}

/** Inserts a workspace, and resolves with its id. */
export async function insertWorkspace(db: Database): Promise<string> {
  const id = newId('ws');
  await db.insertInto('workspaces').values({ id, name: 'Any' }).execute();
  return id;
}

async function createDatabase(options: {
  name: string;
  owner: string;
  template: string;
}): Promise<TestDatabase> {
  const { name, owner, template } = options;
  // Takes half the processor time of the default, because the server does not sync its files.
  const copy = `template ${template} strategy file_copy`;
  await execute(serverUrl(), `create database ${name} owner ${owner} ${copy}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  url.username = owner;
  url.password = owner;
  return {
    url: url.href,
    drop: async () => void (await execute(serverUrl(), `drop database ${name} with (force)`)),
  };
}

/** The address of a superuser on the shared PostgreSQL. */
function serverUrl(): string {
  return required('TEST_DATABASE_URL');
}

function templateName(): string {
  return required('TEST_DATABASE_TEMPLATE');
}

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set; run the integration project of jest`);
  return value;
}

function newName(kind: string): string {
  return `${kind}_${randomBytes(6).toString('hex')}`;
}

function openQuietly(url: string): Database {
  return openDatabase(openPool(url, createLogger({ service: 'test', level: 'silent' })));
}

/** Resolves with the rows of the last statement. */
async function execute(connectionString: string, ...statements: string[]): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    let rows: Record<string, string>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
