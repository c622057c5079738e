import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesUsing } from '@framelane/test-kit/processes';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { ensureDatabase } from '../src/postgres/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { runningPort } from '../src/postgres/postmaster.ts';

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

  test('stops the server of a killed process also where root cannot trace processes of others, as in a container', async () => {
    const orphan = await start();
    const postmaster = join(import.meta.dirname, '../src/postgres/postmaster.ts');
    const program = `import { stopOrphan } from '${postmaster}'; await stopOrphan('${join(root, 'postgres')}');`;
    // Other users need no such capability: the server runs as the same user.
    const withoutTracing =
      process.getuid?.() === 0 ? ['--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'] : [];
    await promisify(execFile)('setpriv', [
      ...withoutTracing,
      ...[process.execPath, '--input-type=module', '-e', program],
    ]);
    expect(await processesUsing(root)).toEqual([]);
    await orphan.ended;
  });

  test('has a port only while it runs, although a killed server leaves its pid file behind', async () => {
    const first = await start();
    const port = Number(new URL(first.url('postgres')).port);
    expect(await runningPort(join(root, 'postgres'))).toBe(port);
    const pidFile = join(root, 'postgres', 'postmaster.pid');
    const left = await readFile(pidFile, 'utf8');
    await first.stop();
    await writeFile(pidFile, left);
    expect(await runningPort(join(root, 'postgres'))).toBeUndefined();
  });

  test('rejects when the server ends before it accepts connections', async () => {
    await (await start()).stop();
    await writeFile(join(root, 'postgres', 'postgresql.auto.conf'), "max_connections = 'many'\n");
    await expect(start()).rejects.toThrow(/PostgreSQL failed to start\. See .*postgres\.log/);
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
