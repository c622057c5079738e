import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesUsing } from '@framelane/test-kit/processes';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { ensureDatabase } from '../src/postgres/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';

describe('the embedded PostgreSQL', () => {
  let root: string;
  let started: EmbeddedPostgres[];

  beforeEach(async () => {
    // Private like a home directory: if the tests run as root, the server's user cannot enter it.
    root = await mkdtemp(join(tmpdir(), 'framelane-postgres-'));
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((postgres) => postgres.stop()));
    await rm(root, { recursive: true });
  });

  async function start(): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({
      directory: join(root, 'postgres'),
      password: 'p@ss/word',
      durable: false,
    });
    started.push(postgres);
    return postgres;
  }

  test('keeps its data across restarts and leaves no process', async () => {
    const first = await start();
    await ensureDatabase(first.url('postgres'), 'mine');
    await query(first.url('mine'), 'create table kept as select 42 as answer');
    await first.stop();
    expect(await processesUsing(root)).toEqual([]);

    const second = await start();
    await ensureDatabase(second.url('postgres'), 'mine');
    expect(await query(second.url('mine'), 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('rejects a wrong password', async () => {
    const { url } = await start();
    const wrong = new URL(url('postgres'));
    wrong.password = 'guess';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  test('starts over after a crash during the creation of the cluster', async () => {
    const unfinished = join(root, 'postgres.new', 'cluster', 'base');
    await mkdir(unfinished, { recursive: true });
    const { url } = await start();
    expect(await query(url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await readdir(root)).sort()).toEqual(['postgres', 'postgres.log']);
  });

  test('stops the server that a killed process has left running, and uses its data', async () => {
    const orphan = await start();
    await query(orphan.url('postgres'), 'create table kept as select 42 as answer');
    const successor = await start();
    await orphan.ended;
    expect(await query(successor.url('postgres'), 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('ignores a pid file whose pid belongs to another process', async () => {
    const first = await start();
    await first.stop();
    await writeFile(join(root, 'postgres', 'postmaster.pid'), `${process.ppid}\n${join(root, 'postgres')}\n`);
    const { url } = await start();
    expect(await query(url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
