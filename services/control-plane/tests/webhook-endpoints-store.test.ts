import { newId } from '@framelane/contracts/ids';
import { beforeEach, expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import type { WebhookEndpointRow, WebhookEventType } from '../src/db/schema.ts';
import {
  changeEndpoint,
  countEndpoints,
  deleteEndpoint,
  disableEndpoint,
  findSubscribers,
  insertEndpoint,
  recordHealth,
  replaceSecret,
} from '../src/webhooks/endpoints.store.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(() => db.deleteFrom('webhook_endpoints').execute());

type Difference = { workspace?: string; events?: WebhookEventType[]; enabled?: boolean };

async function endpoint({
  workspace = workspaceId,
  events = ['video.ready'],
  enabled = true,
}: Difference = {}) {
  const id = newId('whk');
  const settings = { url: 'https://any.test', description: null, events, enabled };
  await insertEndpoint(db, { ...settings, id, workspaceId: workspace, secret: 'old' });
  return id;
}

const rows = () => db.selectFrom('webhook_endpoints').selectAll().orderBy('id').execute();
const row = async (id: string) => (await rows()).find((each) => each.id === id);

const FAILING = { consecutiveFailures: 3, failingSince: new Date(1), attemptedAt: new Date(2) };

test.each<[string, (id: string) => Promise<unknown>, Partial<WebhookEndpointRow>]>([
  [
    'another description keeps the health',
    (id) => changeEndpoint(db, id, { description: 'new' }, { reset: false }),
    { description: 'new', consecutive_failures: 3, failing_since: new Date(1), last_attempt_at: new Date(2) },
  ],
  [
    'a reset clears the health',
    (id) => changeEndpoint(db, id, {}, { reset: true }),
    { consecutive_failures: 0, failing_since: null, last_attempt_at: null },
  ],
  [
    'a customer disables it',
    (id) => changeEndpoint(db, id, { enabled: false }, { reset: false }),
    { enabled: false, disabled_reason: 'manual' },
  ],
  ['a failure disables it', (id) => disableEndpoint(db, id, 'gone'), { disabled_reason: 'gone' }],
  [
    'a customer disables it after a failure has disabled it',
    async (id) => {
      await disableEndpoint(db, id, 'gone');
      await changeEndpoint(db, id, { enabled: false }, { reset: false });
    },
    { enabled: false, disabled_reason: 'gone' },
  ],
  [
    'a customer enables it',
    async (id) => {
      await disableEndpoint(db, id, 'gone');
      await changeEndpoint(db, id, { enabled: true }, { reset: false });
    },
    { enabled: true, disabled_reason: null },
  ],
  ['a new secret', (id) => replaceSecret(db, id, 'new', 24), { secret: 'new', previous_secret: 'old' }],
  [
    'a success',
    (id) => recordHealth(db, id, { consecutiveFailures: 0, failingSince: null, attemptedAt: new Date(3) }),
    { consecutive_failures: 0, failing_since: null, last_attempt_at: new Date(3) },
  ],
])('%s, and no other endpoint changes', async (_, change, expected) => {
  const [id, other] = [await endpoint(), await endpoint()];
  for (const each of [id, other]) await recordHealth(db, each, FAILING);
  const before = await row(other);
  await change(id);
  expect(await row(id)).toMatchObject(expected);
  expect(await row(other)).toEqual(before);
});

test('an endpoint is deleted, and no other', async () => {
  const [id, other] = [await endpoint(), await endpoint()];
  await deleteEndpoint(db, id);
  expect(await rows()).toMatchObject([{ id: other }]);
});

test('the endpoints of a workspace are counted', async () => {
  await endpoint({ workspace: await insertWorkspace(db) });
  for (const enabled of [true, false]) await endpoint({ enabled });
  expect(await countEndpoints(db, workspaceId)).toBe(2);
});

test('the subscribers of an event are the enabled endpoints of its workspace that want its type', async () => {
  const subscribed = [await endpoint(), await endpoint()];
  await endpoint({ enabled: false });
  await endpoint({ events: ['video.deleted'] });
  await endpoint({ workspace: await insertWorkspace(db) });
  expect(await findSubscribers(db, workspaceId, 'video.ready')).toEqual(subscribed.toSorted());
});
