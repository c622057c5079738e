import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesUsing } from '@framelane/test-kit/processes';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ADMIN = join(import.meta.dirname, '../src/cli/admin.ts');

type Key = { id: string; secret: string; name: string; status: string };

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'framelane-admin-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

/** Runs an admin command with nothing but the data directory in its environment. */
async function admin<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...args, '--json'], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
  });
  return JSON.parse(stdout);
}

test('admin commands find the database of a running and of a stopped node', async () => {
  await expect(admin('key', 'list')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/There is no Framelane data in .*Start Framelane once/),
  });
  expect(await readdir(dataDir)).toEqual([]);

  const node = await SingleNodeProcess.start(dataDir);
  try {
    const key = await admin<Key>('key', 'create', '--name', 'Made beside it');
    const headers = { authorization: `Bearer ${key.secret}`, 'x-svc-workspace': node.fact('Workspace') };
    const whoami = () => fetch(`${node.baseUrl}/auth/whoami`, { headers });
    expect((await whoami()).status).toBe(200);
    await admin('limits', 'set', '--videos', '0');
    const refused = await fetch(`${node.baseUrl}/videos/upload-ticket`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"filename":"a.mp4"}',
    });
    expect(await refused.json()).toMatchObject({ status: 403, code: 'quota_exceeded', quota: 'videos' });
    await admin('key', 'revoke', key.id);
    expect((await whoami()).status).toBe(401);
  } finally {
    await node.stop();
  }

  // Each starts PostgreSQL after the previous command has stopped it.
  const [keys, ...others] = await Promise.all([1, 2, 3].map(() => admin<Key[]>('key', 'list')));
  expect(others).toEqual([keys, keys]);
  expect(keys?.map(({ name, status }) => [name, status])).toEqual([
    ['Made beside it', 'revoked'],
    ['First key', 'active'],
  ]);
  expect(await processesUsing(dataDir)).toEqual([]);
});
