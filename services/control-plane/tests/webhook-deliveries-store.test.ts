import { isDeepStrictEqual } from 'node:util';
import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import type { DeliveryFailure, WebhookEventKind } from '../src/db/schema.ts';
import {
  claimDueDeliveries,
  deleteDeliveries,
  deleteOldEvents,
  findBacklog,
  findDelivery,
  findDeliveryAttempts,
  findLastDeliveries,
  findPayload,
  giveUpDeliveries,
  isAnyDue,
  listDeliveries,
  lockClaimed,
  recordDeliveryAttempt,
  releaseClaim,
  type ScheduleChange,
  startNewRound,
} from '../src/webhooks/deliveries.store.ts';
import { insertEndpoint } from '../src/webhooks/endpoints.store.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  await db.deleteFrom('webhook_endpoints').execute();
  await db.deleteFrom('webhook_events').execute();
});

const minutes = (count: number) => new Date(Date.now() + count * 60_000);
const timeOf = (value: number | undefined) => (value === undefined ? null : minutes(value));

/** Differences from a delivery that succeeded. Times are in minutes from now. */
type Difference = {
  /** The next attempt: the delivery is open. */
  due?: number;
  claimedUntil?: number;
  /** The last attempt. */
  attempted?: number;
  failure?: DeliveryFailure;
  type?: WebhookEventKind;
};

const KINDS = {
  pending: { due: 5 },
  retrying: { due: -5, attempted: -6 },
  succeeded: { attempted: -6 },
  failed: { attempted: -6, failure: 'gone' },
} as const satisfies Record<string, Difference>;

async function endpoint({ enabled } = { enabled: true }): Promise<string> {
  const id = newId('whk');
  const settings = { url: 'https://any.test', description: null, events: ['video.ready' as const], enabled };
  await insertEndpoint(db, { ...settings, id, workspaceId, secret: 'any' });
  return id;
}

/** A delivery of a new event. */
async function delivery(endpoint_id: string, difference: Difference = {}): Promise<string> {
  const { due, claimedUntil, attempted, failure, type = 'video.ready' } = difference;
  const [id, event_id] = [newId('dlv'), newId('evt')];
  const payload = `payload of ${event_id}`;
  await db
    .insertInto('webhook_events')
    .values({ id: event_id, workspace_id: workspaceId, type, payload })
    .execute();
  const open = attempted === undefined ? 'pending' : 'retrying';
  const settled = failure === undefined ? 'succeeded' : 'failed';
  await db
    .insertInto('webhook_deliveries')
    .values({
      id,
      endpoint_id,
      event_id,
      failure: failure ?? null,
      failures: 2,
      status: due === undefined ? settled : open,
      attempts: attempted === undefined ? 0 : 1,
      next_attempt_at: timeOf(due),
      last_attempt_at: timeOf(attempted),
      claimed_until: timeOf(claimedUntil),
    })
    .execute();
  if (attempted !== undefined) await attempt(id, { number: 1, failure });
  return id;
}

async function attempt(
  delivery_id: string,
  { number, failure }: { number: number; failure?: DeliveryFailure | undefined },
): Promise<void> {
  await db
    .insertInto('delivery_attempts')
    .values({ delivery_id, number, at: minutes(number), duration_ms: 7, failure: failure ?? null })
    .execute();
}

async function oneOfEachKind(endpointId: string): Promise<Record<keyof typeof KINDS, string>> {
  return {
    pending: await delivery(endpointId, KINDS.pending),
    retrying: await delivery(endpointId, KINDS.retrying),
    succeeded: await delivery(endpointId, KINDS.succeeded),
    failed: await delivery(endpointId, KINDS.failed),
  };
}

const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).toSorted();
const rows = () => db.selectFrom('webhook_deliveries').selectAll().execute();
const row = async (id: string) => (await rows()).find((each) => each.id === id);

/** The ids of the deliveries that this changes or deletes. */
async function changedBy(action: () => Promise<void>): Promise<string[]> {
  const before = await rows();
  await action();
  const after = await rows();
  return ids(before.filter((old) => !after.some((each) => isDeepStrictEqual(each, old))));
}

/** Claims of all due deliveries; they end at the same time. */
async function claimAll() {
  const claims = await claimDueDeliveries(db, { leaseSeconds: 60, limit: 10, perEndpoint: 10 });
  const claimed_until = minutes(9);
  await db.updateTable('webhook_deliveries').set({ claimed_until }).execute();
  return claims.map((claim) => ({
    ...claim,
    claimed_until,
    replaced: { ...claim, claimed_until: minutes(-1) },
  }));
}

test('a delivery is found by its id and endpoint, with the type and the payload of its event', async () => {
  const [mine, other] = [await endpoint(), await endpoint()];
  const [failed, deleted] = ['video.failed', 'video.deleted'] as const;
  const made = {
    [failed]: await delivery(mine, { type: failed }),
    [deleted]: await delivery(mine, { type: deleted }),
  };
  for (const [type, id] of Object.entries(made)) {
    const found = await findDelivery(db, mine, id);
    expect(found).toMatchObject({ id, event_type: type });
    expect(await findPayload(db, found?.event_id ?? '')).toBe(`payload of ${found?.event_id}`);
    expect(await findDelivery(db, other, id)).toBeUndefined();
  }
});

test('the deliveries of an endpoint are listed, or those with a status', async () => {
  const mine = await endpoint();
  await oneOfEachKind(await endpoint());
  const deliveries = await oneOfEachKind(mine);
  const list = async (status?: keyof typeof KINDS) =>
    ids(await listDeliveries(db, mine, { after: undefined, limit: 10, status }));
  expect(await list()).toEqual(Object.values(deliveries).toSorted());
  expect([await list('pending'), await list('failed')]).toEqual([[deliveries.pending], [deliveries.failed]]);
});

test('the last delivery of an endpoint is the one attempted most recently', async () => {
  const [mine, other, unattempted] = [await endpoint(), await endpoint(), await endpoint()];
  await delivery(mine, { attempted: -3 });
  const last = [await delivery(mine, { attempted: -1 }), await delivery(other, { attempted: -2 })];
  await delivery(mine, { attempted: -2 });
  for (const id of [mine, unattempted]) await delivery(id, { due: 1 });
  await delivery(await endpoint(), { attempted: -1 });
  const found = await db.transaction().execute(async (trx) => {
    // An index has this order, so its scans would return it even if the query did not ask for it.
    await sql`set local enable_indexscan = off`.execute(trx);
    return findLastDeliveries(trx, [mine, other, unattempted]);
  });
  expect(ids(found)).toEqual(last.toSorted());
});

test('the attempts of deliveries are found oldest first', async () => {
  const whk = await endpoint();
  const [one, two, other] = [await delivery(whk), await delivery(whk), await delivery(whk)];
  for (const number of [2, 1]) for (const id of [two, one, other]) await attempt(id, { number });
  const found = await findDeliveryAttempts(db, [one, two]);
  expect(found.map(({ number }) => number)).toEqual([1, 1, 2, 2]);
  expect(new Set(found.map(({ delivery_id }) => delivery_id))).toEqual(new Set([one, two]));
});

describe('claims', () => {
  test('begin with the endpoint with the fewest, and then with the delivery due for longest', async () => {
    const [busy, idle, idleToo] = [await endpoint(), await endpoint(), await endpoint()];
    const [second, first] = [await delivery(busy, { due: -2 }), await delivery(busy, { due: -3 })];
    await delivery(busy, { due: -9, claimedUntil: 1 });
    for (const difference of [{ due: 1 }, {}]) await delivery(busy, difference);
    const expired = await delivery(idle, { due: -1, claimedUntil: -1 });
    const longer = await delivery(idleToo, { due: -2 });
    const claim = async (limit: number, perEndpoint: number) =>
      ids(await claimDueDeliveries(db, { leaseSeconds: 600, limit, perEndpoint }));
    for (const id of [longer, expired, first]) expect(await claim(1, 2)).toEqual([id]);
    expect([await claim(9, 2), await isAnyDue(db)]).toEqual([[], true]);
    expect([await claim(9, 3), await isAnyDue(db)]).toEqual([[second], false]);
  });

  test('lock and release their own delivery, unless another claim has replaced them', async () => {
    const whk = await endpoint();
    for (const due of [-1, -2, -3]) await delivery(whk, { due });
    for (const { replaced, ...claim } of await claimAll()) {
      expect(await lockClaimed(db, replaced)).toBeUndefined();
      const unlocked = await db.transaction().execute(async (trx) => {
        expect(await lockClaimed(trx, claim)).toMatchObject({ id: claim.id });
        return db.selectFrom('webhook_deliveries').select('id').forUpdate().skipLocked().execute();
      });
      expect(ids([claim, ...unlocked])).toEqual(ids(await rows()));
      expect(await changedBy(() => releaseClaim(db, replaced))).toEqual([]);
      expect(await changedBy(() => releaseClaim(db, claim))).toEqual([claim.id]);
    }
  });
});

test('the backlog counts open deliveries, claimed or not', async () => {
  const whk = await endpoint();
  await oneOfEachKind(whk);
  for (const due of [-7, 1, 2]) await delivery(whk, { due, claimedUntil: 1 });
  const { due, scheduled } = await findBacklog(db);
  expect([due.count, Math.round(due.oldestSeconds / 60), scheduled]).toEqual([2, 7, 3]);
});

test.each<[string, ScheduleChange | undefined]>([
  ['ends the round', { status: 'failed', failures: 3 }],
  ['leaves the schedule as it is', undefined],
])('an attempt that %s changes no other delivery', async (_, change) => {
  const whk = await endpoint();
  const id = await delivery(whk, KINDS.pending);
  await delivery(whk, KINDS.pending);
  const response = { responseStatus: 500, responseBody: '', requestHeaders: null };
  const attempt = {
    number: 1,
    at: minutes(-1),
    durationMs: 7,
    failure: 'unexpected_status',
    ...response,
  } as const;
  expect(await changedBy(() => recordDeliveryAttempt(db, id, attempt, change))).toEqual([id]);
  const status = change?.status ?? 'retrying';
  expect(await row(id)).toMatchObject({ status, attempts: 1, failure: 'unexpected_status' });
});

test.each<[keyof typeof KINDS, 'pending' | 'retrying', DeliveryFailure | null]>([
  ['pending', 'pending', null],
  ['retrying', 'retrying', null],
  ['succeeded', 'retrying', null],
  ['failed', 'retrying', 'gone'],
])('a delivery that is %s is %s after a renewal, and no other changes', async (kind, status, failure) => {
  const { [kind]: id } = await oneOfEachKind(await endpoint());
  expect(await changedBy(() => startNewRound(db, id))).toEqual([id]);
  const renewed = await row(id);
  expect(renewed).toMatchObject({ status, round: 2, failures: 0, failure });
  expect(Math.abs((renewed?.next_attempt_at?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
});

test('only the open deliveries of a disabled endpoint are given up', async () => {
  const [enabled, disabled, other] = [
    await endpoint(),
    await endpoint({ enabled: false }),
    await endpoint({ enabled: false }),
  ];
  for (const id of [enabled, other]) await oneOfEachKind(id);
  const { pending, retrying } = await oneOfEachKind(disabled);
  expect(await changedBy(() => giveUpDeliveries(db, enabled))).toEqual([]);
  expect(await changedBy(() => giveUpDeliveries(db, disabled))).toEqual([pending, retrying].toSorted());
  const givenUp = { status: 'failed', next_attempt_at: null, failure: 'webhook_disabled' };
  for (const id of [pending, retrying]) expect(await row(id)).toMatchObject(givenUp);
});

test('a delivery that was given up has the failure of its last attempt again after a renewal', async () => {
  const whk = await endpoint({ enabled: false });
  const { pending, retrying } = await oneOfEachKind(whk);
  await attempt(retrying, { number: 3, failure: 'timeout' });
  await attempt(retrying, { number: 2, failure: 'gone' });
  await giveUpDeliveries(db, whk);
  for (const id of [pending, retrying]) await startNewRound(db, id);
  expect([(await row(pending))?.failure, (await row(retrying))?.failure]).toEqual([null, 'timeout']);
});

test('the deliveries of an endpoint are deleted, and those of no other', async () => {
  const mine = await endpoint();
  await oneOfEachKind(await endpoint());
  const deliveries = Object.values(await oneOfEachKind(mine));
  expect(await changedBy(() => deleteDeliveries(db, mine))).toEqual(deliveries.toSorted());
});

test('deliveries and events are given up and deleted in batches of a thousand', async () => {
  const whk = await endpoint({ enabled: false });
  await sql`
    with events as (
      insert into webhook_events (id, workspace_id, type, payload, created_at)
      select 'evt_' || n, ${workspaceId}, 'video.ready', '{}', now() - interval '4 days'
      from generate_series(1, 1001) n returning id
    ) insert into webhook_deliveries (id, endpoint_id, event_id, next_attempt_at)
    select 'dlv_' || id, ${whk}, id, now() from events`.execute(db);
  const batches: (bigint | undefined)[] = [];
  const counting = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (batches.push(result.numAffectedRows) > 6) throw new Error('There are too many batches');
      return result;
    },
  });
  await giveUpDeliveries(counting, whk);
  await deleteDeliveries(counting, whk);
  await deleteOldEvents(counting, 3);
  expect(batches).toEqual([1000n, 1n, 1000n, 1n, 1000n, 1n]);
});
