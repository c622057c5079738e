import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { newId } from '@framelane/contracts/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
import { runAdminOn } from './admin/run-admin-on.ts';
import { CONSOLE_ORIGIN } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { createEmptyDatabase } from './support/database.ts';
import { insertVideo } from './support/video-rows.ts';

const MAIN = join(import.meta.dirname, '../src/admin/main.ts');

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const run = (databaseUrl: string | undefined, ...args: string[]) => runAdminOn(databaseUrl, args);
const admin = (...args: string[]) => run(plane.databaseUrl, ...args);

async function json<T>(...args: string[]): Promise<T> {
  const { code, output } = await admin(...args, '--json');
  expect(code).toBe(0);
  return JSON.parse(output);
}

function whoami(secret: string, workspaceId: string): Promise<Response> {
  return fetch(`${plane.url}/v1/auth/whoami`, {
    headers: { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId },
  });
}

describe('from a new workspace to a valid key', () => {
  test('in JSON', async () => {
    const workspace = await json<{ id: string; name: string }>('workspace', 'create', '--name', 'Acme');
    expect(workspace).toEqual({
      id: expect.stringMatching(/^ws_/),
      name: 'Acme',
      createdAt: expect.any(String),
    });
    expect(await json('workspace', 'list')).toContainEqual(workspace);
    expect(await json('key', 'list', '--workspace', workspace.id)).toEqual([]);

    const key = await json<{ id: string; secret: string; workspaceId: string }>(
      ...['key', 'create', '--workspace', workspace.id, '--name', 'CI', '--environment', 'test'],
      ...['--permissions', 'videos:read, usage:read', '--expires-at', '2999-01-01'],
    );
    expect(key).toMatchObject({
      workspaceId: workspace.id,
      environment: 'test',
      permissions: ['videos:read', 'usage:read'],
      expiresAt: '2999-01-01T00:00:00.000Z',
    });
    const { secret, workspaceId, ...listed } = key;
    expect(workspaceId).toBe(workspace.id);
    expect(await json('key', 'list', '--workspace', workspace.id)).toEqual([listed]);

    expect((await whoami(secret, workspace.id)).status).toBe(200);
    expect(await json('key', 'revoke', key.id)).toEqual({ id: key.id, status: 'revoked' });
    expect((await whoami(secret, workspace.id)).status).toBe(401);
  });

  test('as text, on an empty database', async () => {
    const database = await createEmptyDatabase();
    const on = (...args: string[]) => run(database.url, ...args);
    expect((await on('key', 'create', '--name', 'First')).errors).toMatch(/no workspace yet/);
    const created = await on('workspace', 'create', '--name', 'Acme Media');
    const id = /ws_\w+/.exec(created.output)?.[0] ?? '';
    expect((await on('workspace', 'list')).output).toMatch(
      new RegExp(`^ID +NAME +CREATED\\n${id}  Acme Media`),
    );

    const { output } = await on('key', 'create', '--name', 'First');
    const secret = /svc_live_\w+/.exec(output)?.[0] ?? '';
    expect(secret).toHaveLength(52);
    expect(output).toContain(id);
    const list = await on('key', 'list');
    expect(list.output).toMatch(new RegExp(`svc_live_…${secret.slice(-4)} +active .* First +all\\n$`));
    expect(list.output).not.toContain(secret);
    await database.drop();
  });
});

describe('people who sign in by OpenID Connect', () => {
  test('are added, listed and removed, as text', async () => {
    const person = ['--email', 'Grace@Example.com', '--workspace', plane.workspaceId];
    const added = await admin('console-person', 'add', ...person, '--permissions', 'videos:read');
    expect(added.output).toMatch(
      new RegExp(
        `^\n  Email +grace@example.com\n  Workspaces +${plane.workspaceId}\n` +
          '  Environments +live, test\n  Permissions +videos:read\n\n$',
      ),
    );
    expect((await admin('console-person', 'list')).output).toMatch(
      new RegExp(
        `^EMAIL +WORKSPACE .*\ngrace@example.com  ${plane.workspaceId}  live,test +no +[-0-9:.T]+Z +videos:read\n$`,
      ),
    );
    expect((await admin('console-person', 'remove', ...person)).output).toBe(
      `Removed grace@example.com from ${plane.workspaceId}\n`,
    );
    expect((await admin('console-person', 'remove', ...person)).errors).toContain(
      'There is no person grace@example.com in these workspaces.',
    );
  });

  test('need an email address and a workspace that exists', async () => {
    expect((await admin('console-person', 'add', '--workspace', plane.workspaceId)).errors).toContain(
      '--email',
    );
    const invalid = await admin('console-person', 'add', '--email', 'grace');
    expect(invalid.errors).toContain('Give an address such as ada@example.com.');
    const unknown = await admin(
      'console-person',
      'add',
      '--email',
      'grace@example.com',
      '--workspace',
      'ws_x',
    );
    expect(unknown.errors).toContain('There is no workspace ws_x.');
    expect(await json('console-person', 'list')).toEqual([]);
  });
});

describe('a sign-in link to the console', () => {
  const signIn = (url: string) =>
    fetch(`${plane.url}/v1/console/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: CONSOLE_ORIGIN },
      body: JSON.stringify({ code: url.replace('http://framelane.test/console/#code=', '') }),
    });

  test('in JSON', async () => {
    const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Console');
    const link = await json<{ url: string; expiresAt: string }>(
      ...['console-link', '--workspace', id, '--name', 'Ada', '--environment', 'test'],
      ...['--permissions', 'videos:read', '--administrator'],
    );
    expect(link).toEqual({
      name: 'Ada',
      workspaceIds: [id],
      environments: ['test'],
      permissions: ['videos:read'],
      administrator: true,
      url: expect.any(String),
      expiresAt: expect.any(String),
    });
    const minutes = (Date.parse(link.expiresAt) - Date.now()) / 60_000;
    expect([minutes > 9, minutes < 11]).toEqual([true, true]);
    const response = await signIn(link.url);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({
      name: 'Ada',
      workspace: { id, name: 'Console' },
      environment: 'test',
      permissions: ['videos:read'],
      administrator: true,
    });
    expect((await signIn(link.url)).status).toBe(401);
  });

  test('as text, with every permission', async () => {
    const { output } = await admin('console-link', '--workspace', plane.workspaceId);
    const url = /Sign-in link +(\S+)/.exec(output)?.[1] ?? '';
    expect(output).toContain(plane.workspaceId);
    const session = (await (await signIn(url)).json()) as object;
    expect(session).toMatchObject({
      environment: 'live',
      administrator: false,
      workspaces: [{ id: plane.workspaceId, environments: ['live', 'test'], permissions: PERMISSIONS }],
    });
  });

  test('for several workspaces', async () => {
    const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Second');
    const ids = [plane.workspaceId, id].sort();
    const link = await json<{ url: string }>('console-link', '--workspace', id, '--workspace', ...ids);
    const { workspaces } = (await (await signIn(link.url)).json()) as { workspaces: { id: string }[] };
    expect(workspaces.map((workspace) => workspace.id)).toEqual(ids);
    const every = await json<{ workspaceIds: string[] }>('console-link');
    expect(every.workspaceIds).toEqual(expect.arrayContaining(ids));
    const unknown = await admin('console-link', '--workspace', id, 'ws_unknown');
    expect(unknown.errors).toContain('There is no workspace ws_unknown.');
  });

  test('needs the public address', async () => {
    const env = { PATH: process.env.PATH, DATABASE_URL: plane.databaseUrl };
    await expect(
      promisify(execFile)(process.execPath, [MAIN, 'console-link', '--workspace', plane.workspaceId], {
        env,
      }),
    ).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^PUBLIC_URL is not set\./) });
    const withUrl = { ...env, PUBLIC_URL: 'https://video.example.com/' };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [MAIN, 'console-link', '--workspace', plane.workspaceId],
      { env: withUrl },
    );
    expect(stdout).toContain('https://video.example.com/console/#code=console_code_');
  });
});

test('all of many keys are listed', async () => {
  const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Busy');
  const template = await plane.db.selectFrom('api_keys').selectAll().limit(1).executeTakeFirstOrThrow();
  const rows = Array.from({ length: 205 }, (_, index) => ({
    ...template,
    id: newId('key'),
    workspace_id: id,
    name: `Key ${index}`,
    secret_hash: Buffer.from(`hash ${index}`),
  }));
  await plane.db.insertInto('api_keys').values(rows).execute();
  const listed = await json<{ name: string }[]>('key', 'list', '--workspace', id);
  expect(new Set(listed.map(({ name }) => name)).size).toBe(205);
});

test('a stored name is shown on one line, whatever it contains', async () => {
  const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Old');
  const name = 'x\r\nkey_forged  svc_live\u001b[1A\u202e\u009b';
  await admin('key', 'create', '--workspace', id, '--name', 'Only');
  await plane.db.updateTable('api_keys').set({ name }).where('workspace_id', '=', id).execute();
  const { output } = await admin('key', 'list', '--workspace', id);
  expect(output.split('\n')).toHaveLength(3);
  expect(output).toContain(String.raw`x\u000d\u000akey_forged  svc_live\u001b[1A\u202e\u009b`);
  expect(await json('key', 'list', '--workspace', id)).toMatchObject([{ name }]);
  expect((await admin('key', 'list', '--workspace', id, '--json')).output).not.toMatch(/[\u202e\u009b]/);
});

test('the last key of a workspace can be revoked', async () => {
  const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Leaked');
  const key = await json<{ id: string }>('key', 'create', '--workspace', id, '--name', 'Only');
  expect(await admin('key', 'revoke', key.id)).toMatchObject({ code: 0, output: `Revoked ${key.id}.\n` });
  expect(await admin('key', 'revoke', key.id)).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/no key/),
  });
});

describe('limits', () => {
  const NONE = {
    storedBytes: { limit: null, used: 0, reserved: 0 },
    transcodedMinutes: { limit: null, used: 0 },
    videos: { limit: null, used: 0 },
    uploads: { limit: null, used: 0 },
    fileBytes: { limit: null },
  };

  test('are set one by one or together, shown, and removed', async () => {
    const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Limited');
    const set = (...args: string[]) => json('limits', 'set', '--workspace', id, ...args);
    const show = () => json('limits', 'show', '--workspace', id);
    expect(await show()).toEqual({ workspaceId: id, limits: NONE });
    const limits = {
      storedBytes: { limit: 1_500_000_000_000, used: 0, reserved: 0 },
      transcodedMinutes: { limit: 3000, used: 0 },
      videos: { limit: 0, used: 0 },
      uploads: { limit: 20, used: 0 },
      fileBytes: { limit: 5 * 2 ** 30 },
    };
    expect(
      await set(
        ...['--stored-bytes', '1.5TB', '--transcoded-minutes', '3000', '--videos', '0'],
        ...['--uploads', '20', '--file-bytes', '5 gib'],
      ),
    ).toEqual({ workspaceId: id, limits });
    await set('--videos', 'none', '--file-bytes', '123');
    const changed = { ...limits, videos: NONE.videos, fileBytes: { limit: 123 } };
    expect(await show()).toEqual({ workspaceId: id, limits: changed });
    const all = ['--stored-bytes', '--transcoded-minutes', '--uploads', '--file-bytes'];
    expect(await set(...all.flatMap((option) => [option, 'none']))).toEqual({
      workspaceId: id,
      limits: NONE,
    });
  });

  test('are shown as text with readable sizes', async () => {
    const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'Readable');
    const failed = { status: 'failed', error_code: 'internal_error' } as const;
    await insertVideo(plane.db, id, { ...failed, storage_bytes: 73_456_789_012 });
    const { output } = await admin(
      'limits',
      'set',
      '--workspace',
      id,
      '--stored-bytes',
      '1TiB',
      '--videos',
      '9',
    );
    expect(output).toBe(`Workspace ${id}

                     LIMIT   USED          RESERVED
stored bytes         1.1 TB  73.46 GB      0 B
transcoded minutes   none    0 this month  -
videos               9       1             -
open upload tickets  none    0             -
file bytes           none    -             -
`);
  });
});

describe('errors', () => {
  beforeAll(() => json('workspace', 'create', '--name', 'Second'));

  test.each([
    ['no name', ['key', 'create'], /--name/],
    ['an empty name', ['workspace', 'create', '--name', ' '], /1 to 100 characters/],
    ['an escape sequence in a name', ['key', 'create', '--name', 'x\u001b[2J'], /control characters/],
    ['an unknown workspace', ['key', 'list', '--workspace', newId('ws')], /no workspace ws_/],
    ['an unknown permission', ['key', 'create', '--name', 'x', '--permissions', 'videos'], /videos:read/],
    ['another environment', ['key', 'create', '--name', 'x', '--environment', 'dev'], /live, test/],
    ['a past expiry', ['key', 'create', '--name', 'x', '--expires-at', '2020-01-01'], /has passed/],
    [
      'a day that does not exist',
      ['key', 'create', '--name', 'x', '--expires-at', '2999-02-30'],
      /2027-01-01/,
    ],
    ['no limit', ['limits', 'set'], /Give a limit to set/],
    ['an unknown unit', ['limits', 'set', '--stored-bytes', '1XB'], /such as 1TB .* KiB/],
    ['a size below zero', ['limits', 'set', '--stored-bytes', '-1TB'], /such as 1TB/],
    ['a size without a number', ['limits', 'set', '--stored-bytes', 'TB'], /such as 1TB/],
    ['a fraction of a byte', ['limits', 'set', '--stored-bytes', '0.4'], /such as 1TB/],
    ['a size above the largest safe integer', ['limits', 'set', '--stored-bytes', '99999PB'], /such as 1TB/],
    ['a fraction of a video', ['limits', 'set', '--videos', '1.5'], /whole number, or none/],
    ['a file size of zero', ['limits', 'set', '--file-bytes', '0'], /at least one byte/],
    ['limits of an unknown workspace', ['limits', 'show', '--workspace', newId('ws')], /no workspace ws_/],
    ['limits of one of several workspaces', ['limits', 'set', '--videos', '1'], /--workspace/],
    ['an unknown key', ['key', 'revoke', newId('key')], /no key key_/],
    ['an unknown command', ['keys'], /unknown command/],
    ['one of several workspaces', ['key', 'list'], /--workspace/],
  ])('%s: exit code 1 and a reason', async (_, args, reason) => {
    const { code, output, errors } = await admin(...args);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(reason);
    expect(errors).not.toMatch(/^ +at /m);
  });

  test('a database that is unreachable or does not exist', async () => {
    const unreachable = await run('postgres://u:hidden@127.0.0.1:1/x', 'workspace', 'list');
    expect(unreachable).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/unreachable: ECONNREFUSED/),
    });
    const other = new URL(plane.databaseUrl);
    other.pathname = '/nowhere';
    const refused = await run(other.href, 'workspace', 'list');
    expect(refused).toMatchObject({ code: 1, errors: expect.stringMatching(/"nowhere" does not exist/) });
    expect(`${unreachable.errors}${refused.errors}`).not.toContain(other.password);
    expect(unreachable.errors).not.toContain('hidden');
  });
});

test('the help needs no database and lists all commands', async () => {
  const help = await run(undefined, '--help');
  expect(help).toMatchObject({ code: 0, errors: '' });
  for (const command of ['workspace', 'key', 'limits', 'console-link', 'console-person']) {
    expect(help.output).toMatch(new RegExp(`^  ${command} `, 'm'));
  }
  expect(help.output).toContain('A note.');
  const { output } = await run(undefined, 'key', 'create', '--help');
  for (const words of [...PERMISSIONS, '(required)', '2027-01-01T12:00:00Z']) expect(output).toContain(words);
  expect((await run(undefined, 'key', 'list')).errors).toBe('No database\n');
});

describe('as a program', () => {
  const program = (env: Record<string, string>, ...args: string[]) =>
    promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, ...env } });

  test('takes the database from DATABASE_URL', async () => {
    const { stdout } = await program({ DATABASE_URL: plane.databaseUrl }, 'workspace', 'list', '--json');
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ id: plane.workspaceId }));
  });

  test('requires DATABASE_URL', async () => {
    await expect(program({}, 'workspace', 'list')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('DATABASE_URL is not set'),
    });
  });

  test('ends without an error when the reader of its output has ended', async () => {
    const child = spawn(process.execPath, [MAIN, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([code, errors]).toEqual([0, '']);
  });
});
