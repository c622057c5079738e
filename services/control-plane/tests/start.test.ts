import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { SettingsError } from '@framelane/service-kit/settings';
import { freePorts } from '@framelane/test-kit/free-ports';
import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase, openMigrationPool } from '../src/db/database.ts';
import { waitForDatabase } from '../src/db/wait-for-database.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

type Line = { level: string; message: string; setting?: string; detail?: string; waitedSeconds?: number };

describe('a control plane that starts while other systems are unavailable', () => {
  let database: TestDatabase;
  let link: TcpProxy;
  let service: ChildProcess;
  let output: string;
  let nobody: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    link = await TcpProxy.startFor(database.url);
    link.cut();
    const [port] = await freePorts(1);
    nobody = `127.0.0.1:${port}`;
  });
  afterAll(async () => {
    service.kill('SIGKILL');
    await link.stop();
    await database.drop();
  });
  function start(): void {
    output = '';
    service = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PORT: '0',
        INTERNAL_PORT: '0',
        PUBLIC_URL: 'http://framelane.test',
        ENGINE_PUBLIC_URL: 'http://engine.framelane.test',
        DATABASE_URL: link.through(database.url),
        AMQP_URL: `amqp://control-plane:hush@${nobody}`,
        S3_ENDPOINT: `http://${nobody}`,
        S3_BUCKET: 'videos',
        S3_ACCESS_KEY_ID: 'control-plane',
        S3_SECRET_ACCESS_KEY: 'hush',
        SERVICE_SECRET: randomBytes(32).toString('hex'),
        CONTENT_KEY_SECRET: randomBytes(32).toString('base64'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
  }

  const lines = (): Line[] =>
    output
      .split('\n')
      .filter((line) => line !== '' && output.includes(`${line}\n`))
      .map((line) => JSON.parse(line));
  const logged = (message: string, setting?: string, reason = '') =>
    until(
      () =>
        lines().find(
          (line) =>
            line.message === message && line.setting === setting && (line.detail ?? '').includes(reason),
        ),
      { details: () => output },
    );

  test('waits for the database, names the settings of all, and starts when it is available', async () => {
    start();
    expect(await logged('start.waiting', 'DATABASE_URL')).toMatchObject({
      level: 'warn',
      detail: expect.stringMatching(/ECONNRESET|Connection terminated/),
      waitedSeconds: expect.any(Number),
    });
    await logged('start.waiting', 'AMQP_URL', 'ECONNREFUSED');
    await logged('start.waiting', 'S3_ENDPOINT', 'ECONNREFUSED');
    link.heal();
    expect(await logged('start.available', 'DATABASE_URL')).toMatchObject({ level: 'info' });
    await logged('control-plane.started');
    expect(output).not.toContain('hush');
  });

  test.each([
    [
      'a wrong password',
      (url: string) => url.replace(/:[^:@]+@/, ':hush@'),
      'password authentication failed',
    ],
    ['a missing database', (url: string) => url.replace(/[^/]+$/, 'missing'), '"missing" does not exist'],
    ['an invalid address', () => 'postgres://user:hush#@127.0.0.1/framelane', 'Invalid URL'],
  ])('does not wait because of %s, and names the setting', async (_, change, reason) => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const db = openDatabase(openMigrationPool(change(database.url), logger));
    const waiting = waitForDatabase(db, { logger, signal: AbortSignal.timeout(30_000) });
    const error: Error = await waiting.then(
      () => new Error('It connected'),
      (refusal) => refusal,
    );
    expect(error).toBeInstanceOf(SettingsError);
    expect(error.message).toMatch(/^DATABASE_URL: cannot connect to this database \(.*\)$/);
    expect(error.message).toContain(reason);
    expect(error.message).not.toContain('hush');
    await db.destroy();
  });
});
