import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesUsing } from '@framelane/test-kit/processes';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import type { Access } from '../src/postgres/access.ts';
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

  async function start(access: Access = 'tests'): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({
      directory: join(root, 'postgres'),
      password: "p@ss/'word",
      access,
    });
    started.push(postgres);
    return postgres;
  }

  test('keeps its data across restarts and leaves no process', async () => {
    const first = await start('node');
    await query(first.url(), 'create table kept as select 42 as answer');
    await first.stop();
    expect(await processesUsing(root)).toEqual([]);

    const second = await start('node');
    expect(await query(second.url(), 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('runs without capabilities', async () => {
    await start('node');
    const processes = await processesUsing(root);
    expect(processes.length).toBeGreaterThan(1);
    for (const { pid } of processes) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const held = [...status.matchAll(/^(Cap(?:Inh|Prm|Eff|Amb)):\t(.*)$/gm)].map(([, set, bits]) => [
        set,
        bits,
      ]);
      expect(held).toEqual(['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => [set, '0'.repeat(16)]));
    }
  });

  test('gives a node a role that has one database and no other right', async () => {
    const { url } = await start('node');
    const rights = 'select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as any';
    expect(await query(url(), `${rights} from pg_roles where rolname = current_user`)).toEqual([
      { any: false },
    ]);
    expect(await query(url(), 'select from pg_auth_members where member = current_user::regrole')).toEqual(
      [],
    );
    const allowed: string[] = [];
    for (const statement of FORBIDDEN) {
      const reason = await query(url(), statement).catch(({ message }) => message);
      if (!REFUSAL.test(reason)) allowed.push(`${statement}: ${reason}`);
    }
    expect(allowed).toEqual([]);
    // Neither another database nor the superuser accepts a connection, whatever the password.
    const rejected = [
      url('postgres'),
      url('template1'),
      ...['', encodeURIComponent("p@ss/'word")].map((password) => asSuperuser(url(), password)),
    ];
    for (const each of rejected)
      await expect(query(each, 'select 1')).rejects.toThrow(/no pg_hba.conf entry/);
  });

  test.each([
    ['before the database was created', ['create role "control-plane"']],
    [
      'before the role could log in',
      ['create role "control-plane"', 'create database framelane owner "control-plane"'],
    ],
  ])('prepares a cluster for a node after a kill %s', async (_, done) => {
    const interrupted = await start();
    for (const statement of done) await query(interrupted.url('postgres'), statement);
    await interrupted.stop();

    const { url, stop } = await start('node');
    await query(url(), 'create table first ()');
    await stop();
    // The next start changes nothing.
    await query((await start('node')).url(), 'create table more ()');
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

  test('says why a cluster cannot be created', async () => {
    const programs = await mkdtemp(join(tmpdir(), 'framelane-programs-'));
    await writeFile(join(programs, 'setpriv'), "#!/bin/sh\necho 'initdb: error: disk full' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const { PATH } = process.env;
    process.env.PATH = `${programs}:${PATH}`;
    try {
      await expect(start()).rejects.toThrow(
        `PostgreSQL cannot create its data in ${join(root, 'postgres')}:\ninitdb: error: disk full`,
      );
    } finally {
      process.env.PATH = PATH;
      await rm(programs, { recursive: true });
    }
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

/** What PostgreSQL responds if a right is missing. */
const REFUSAL = /permission denied|must be (superuser|owner)|only roles with|is not allowed/i;

/** What a superuser may do on its machine, and ways to become one. */
const FORBIDDEN = [
  "select pg_read_file('/etc/hostname')",
  "select pg_read_binary_file('postgresql.conf')",
  "select pg_stat_file('/etc/hostname')",
  "select pg_ls_dir('/')",
  'select pg_ls_logdir()',
  'select pg_ls_waldir()',
  "select lo_import('/etc/hostname')",
  "select lo_export(lo_create(0), '/tmp/framelane-export')",
  "create table copied (line text); copy copied from '/etc/hostname'",
  "copy (select 1) to '/tmp/framelane-copy'",
  "copy (select 1) to program 'true'",
  "create table copied (line text); copy copied from program 'true'",
  'set role framelane',
  'set session authorization framelane',
  'alter role current_user superuser',
  'alter role framelane password null',
  'create role another',
  'create database another',
  'grant pg_read_server_files to current_user',
  'grant pg_execute_server_program to current_user',
  'grant framelane to current_user',
  'alter database postgres owner to current_user',
  "alter system set archive_command = 'true'",
  "set session_preload_libraries = 'dblink'",
  "set log_statement = 'none'",
  "load '$libdir/dblink'",
  'create extension dblink',
  'create extension postgres_fdw',
  'create extension file_fdw',
  'create extension plperlu',
  'create extension plpython3u',
  'create extension pltclu',
  'create extension pageinspect',
  "create function run(cstring) returns int language c as 'libc.so.6', 'system'",
  "create function run() returns int language internal as 'pg_backend_pid'",
  'create event trigger each on ddl_command_start execute function pg_notify()',
  "create tablespace elsewhere location '/tmp'",
  "create subscription remote connection 'host=127.0.0.1' publication other",
  'select pg_reload_conf()',
  'select pg_rotate_logfile()',
  'select pg_switch_wal()',
  'select from pg_authid',
  'checkpoint',
];

function asSuperuser(url: string, password: string): string {
  return url.replace(/control-plane:[^@]*/, `framelane:${password}`);
}
