import { newId } from '@framelane/contracts/ids';
import { SettingsError } from '@framelane/service-kit/settings';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import type { Database } from '../src/db/database.ts';
import { newWorkspace, WorkspacesService } from '../src/workspaces/workspaces.service.ts';
import { openTestDatabase } from './support/database.ts';

let db: Database;
let close: () => Promise<void>;
let workspaces: WorkspacesService;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  workspaces = new WorkspacesService({ db });
});
afterAll(() => close());

const bootstrap = (given: { workspaceId?: string; apiKey?: string } = {}) =>
  workspaces.bootstrap({ workspaceId: given.workspaceId, apiKey: given.apiKey });

const keysOf = async (workspaceId: string) =>
  (await db.selectFrom('api_keys').select('name').where('workspace_id', '=', workspaceId).execute()).length;

test.each([
  ['workspace id', { workspaceId: 'ws_1' }, /^BOOTSTRAP_WORKSPACE_ID/],
  ['key', { apiKey: 'svc_live_short' }, /^BOOTSTRAP_API_KEY/],
])('a start refuses a %s with a wrong format', async (_, given, reason) => {
  await expect(bootstrap(given)).rejects.toThrow(SettingsError);
  await expect(bootstrap(given)).rejects.toThrow(reason);
  expect(await workspaces.list()).toEqual([]);
});

test('the first start creates a workspace and a key, and later ones change nothing', async () => {
  const { workspaceId, newApiKey } = await bootstrap();
  expect(newApiKey).toMatch(/^svc_live_\w+$/);
  expect(await bootstrap()).toEqual({ workspaceId, newApiKey: null });
  expect(await workspaces.list()).toEqual([
    { id: workspaceId, name: 'Default', createdAt: expect.stringMatching(/Z$/) },
  ]);
  expect(await keysOf(workspaceId)).toBe(1);
});

test('a first start that is repeated with the same generated key has the same result', async () => {
  const empty = await openTestDatabase();
  const installation = new WorkspacesService({ db: empty.db });
  const given = { workspaceId: undefined, apiKey: undefined };
  const generated = newWorkspace();
  const first = await installation.bootstrap(given, generated);
  expect(first).toEqual({ workspaceId: generated.workspaceId, newApiKey: generated.apiKey });
  expect(await installation.bootstrap(given, generated)).toEqual(first);
  expect(await installation.bootstrap(given)).toEqual({ ...first, newApiKey: null });
  await empty.close();
});

test('concurrent first starts with the same key create one workspace', async () => {
  const empty = await openTestDatabase();
  const installation = new WorkspacesService({ db: empty.db });
  const given = { workspaceId: undefined, apiKey: newApiKeySecret('live') };
  const [first, second] = await Promise.all([installation.bootstrap(given), installation.bootstrap(given)]);
  expect(second).toEqual(first);
  expect((await installation.list()).map(({ id }) => id)).toEqual([first.workspaceId]);
  await empty.close();
});

test('a given key is created unless it exists', async () => {
  const { workspaceId } = await bootstrap();
  const apiKey = newApiKeySecret('live');
  for (let start = 0; start < 2; start++) {
    expect(await bootstrap({ apiKey })).toEqual({ workspaceId, newApiKey: null });
    expect(await keysOf(workspaceId)).toBe(2);
  }
});

test('a given workspace is created unless it exists, and without another key', async () => {
  const workspaceId = newId('ws');
  for (let start = 0; start < 2; start++) {
    expect(await bootstrap({ workspaceId })).toEqual({ workspaceId, newApiKey: null });
  }
  expect((await workspaces.list()).map(({ id }) => id)).toContain(workspaceId);
  expect(await keysOf(workspaceId)).toBe(0);
});

test('workspaces are listed oldest first; the id decides the order of equal times', async () => {
  const { workspaceId: first } = await bootstrap();
  const created_at = new Date('2001-01-01');
  const ids = Array.from({ length: 5 }, () => newId('ws')).toSorted();
  await db
    .insertInto('workspaces')
    .values(ids.toReversed().map((id) => ({ id, name: 'Old', created_at })))
    .execute();
  const listed = (await workspaces.list()).map(({ id }) => id);
  expect(listed.slice(0, 6)).toEqual([...ids, first]);
  expect((await bootstrap()).workspaceId).toBe(ids[0]);
});
