import { newId } from '@framelane/contracts/ids';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import type { Database } from '../src/db/database.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { localWebhooks, WebhookClient } from './support/webhooks.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane(localWebhooks);
});
beforeEach(async () => {
  await plane.db.deleteFrom('webhook_events').execute();
});
afterAll(() => plane.stop());

type Page = { data: { id: string; type: string; data: unknown }[]; nextCursor: string; hasMore: boolean };

const get = (query: string) => request(plane.url).get(`/v1/events${query}`).set(plane.credentials);

async function list(query = ''): Promise<Page> {
  const response = await get(query);
  expect(response.status).toBe(200);
  return response.body;
}

const idsOf = ({ data }: Page) => data.map(({ id }) => id);

/** Adds an event. Resolves with its id. */
async function insert(db: Database, { workspaceId = plane.workspaceId, title = 'A' } = {}): Promise<string> {
  const [id, timestamp] = [newId('evt'), new Date().toISOString()];
  const data = { id: newId('vid'), title, status: 'deleted', deletedAt: timestamp };
  const payload = JSON.stringify({ id, type: 'video.deleted', timestamp, workspaceId, data });
  await db
    .insertInto('webhook_events')
    .values({ id, workspace_id: workspaceId, type: 'video.deleted', payload })
    .execute();
  return id;
}

test('an event is listed, also if no webhook gets it', async () => {
  const { videoId } = await plane.ticket();
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  expect(await list()).toMatchObject({
    data: [
      { type: 'video.deleted', workspaceId: plane.workspaceId, data: { id: videoId, status: 'deleted' } },
    ],
    hasMore: false,
  });
});

test('a deletion erases the texts of events that no webhook gets', async () => {
  const { videoId } = await plane.readyVideo();
  expect((await list()).data).toMatchObject([{ type: 'video.ready', data: { id: videoId } }]);
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  expect((await list()).data).toMatchObject([{ type: 'video.deleted', data: { id: videoId, title: '' } }]);
});

test('a deletion leaves the events that a webhook gets as they were sent', async () => {
  const { id } = await new WebhookClient(plane).create({ url: 'http://127.0.0.1:9/' });
  const { videoId } = await plane.readyVideo();
  const [ready] = (await list()).data;
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  expect((await list()).data).toMatchObject([
    { type: 'video.ready', data: ready?.data },
    { type: 'video.deleted', data: { id: videoId, title: expect.stringMatching(/./) } },
  ]);
  await request(plane.url).delete(`/v1/webhooks/${id}`).set(plane.credentials).expect(204);
});

test('a test event is listed', async () => {
  const webhooks = new WebhookClient(plane);
  const { id } = await webhooks.create({ url: 'http://127.0.0.1:9/' });
  await webhooks.test(id);
  expect((await list()).data).toMatchObject([{ type: 'webhook.test', data: { webhookId: id } }]);
});

test('a reader gets each event once, oldest first, and its cursor stays valid at the end', async () => {
  const ids = [await insert(plane.db), await insert(plane.db), await insert(plane.db)];
  const first = await get('?limit=2');
  expect(idsOf(first.body)).toEqual(ids.slice(0, 2));
  expect(first.body.hasMore).toBe(true);
  expect(first.headers.link).toContain(`cursor=${first.body.nextCursor}>; rel="next"`);
  const second = await get(`?limit=2&cursor=${first.body.nextCursor}`);
  expect(idsOf(second.body)).toEqual(ids.slice(2));
  expect(second.headers).not.toHaveProperty('link');
  const end = await list(`?cursor=${second.body.nextCursor}`);
  expect(end).toEqual({ data: [], nextCursor: second.body.nextCursor, hasMore: false });
  const later = await insert(plane.db);
  expect(idsOf(await list(`?cursor=${end.nextCursor}`))).toEqual([later]);
});

test('a reader that begins now gets later events only', async () => {
  const empty = await list('?from=now');
  const early = await insert(plane.db);
  const begun = await list('?from=now');
  expect(begun.data).toEqual([]);
  const late = await insert(plane.db);
  expect(idsOf(await list(`?cursor=${begun.nextCursor}`))).toEqual([late]);
  expect(idsOf(await list(`?cursor=${empty.nextCursor}`))).toEqual([early, late]);
});

test('a reader that begins at a time gets what was committed then or later', async () => {
  await insert(plane.db);
  const second = await insert(plane.db);
  await sql`update webhook_events set position = 1000 where id <> ${second}`.execute(plane.db);
  await sql`update webhook_events set position = 1000000 where id = ${second}`.execute(plane.db);
  expect(idsOf(await list('?since=1970-01-01T00:00:01Z'))).toEqual([second]);
  expect(idsOf(await list('?since=1970-01-01T00:00:01.001Z'))).toEqual([]);
  expect(idsOf(await list('?since=1969-01-01T00:00:00Z'))).toHaveLength(2);
});

test('a reader misses no event whose transaction was committed after that of a later one', async () => {
  const { nextCursor } = await list('?from=now');
  const inserted = Promise.withResolvers<string>();
  const read = Promise.withResolvers<void>();
  const slow = plane.db.transaction().execute(async (trx) => {
    inserted.resolve(await insert(trx));
    await read.promise;
  });
  const early = await inserted.promise;
  const quick = await insert(plane.db);
  const first = await list(`?cursor=${nextCursor}`);
  read.resolve();
  await slow;
  expect(idsOf(first)).toEqual([quick]);
  expect(idsOf(await list(`?cursor=${first.nextCursor}`))).toEqual([early]);
});

test('a transaction that has its place, but is not committed yet, holds back the later ones', async () => {
  const { db } = plane;
  const { nextCursor } = await list('?from=now');
  // Runs after the trigger that gives the place.
  await sql`
    create function wait_in_commit() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(42); return null; end $$`.execute(db);
  await sql`
    create constraint trigger wait_in_commit after insert on webhook_events deferrable initially deferred
    for each row when (new.payload like '%Slow%') execute function wait_in_commit()`.execute(db);
  const waiting = async (count: number) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_locks
      where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`.execute(
      db,
    );
    return rows[0]?.count === count;
  };
  const [first, second] = await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(42)`.execute(connection);
    const slow = insert(db, { title: 'Slow' });
    await until(() => waiting(1));
    const quick = insert(db);
    await until(() => waiting(2));
    expect(idsOf(await list(`?cursor=${nextCursor}`))).toEqual([]);
    await sql`select pg_advisory_unlock(42)`.execute(connection);
    return Promise.all([slow, quick]);
  });
  await sql`drop function wait_in_commit cascade`.execute(db);
  expect(idsOf(await list(`?cursor=${nextCursor}`))).toEqual([first, second]);
});

test('transactions that write many events at the same time give each its own place', async () => {
  const { nextCursor } = await list('?from=now');
  const seen: string[] = [];
  let cursor = nextCursor;
  const written = Promise.all(
    Array.from({ length: 5 }, () =>
      plane.db.transaction().execute(async (trx) => [await insert(trx), await insert(trx)]),
    ),
  );
  while (seen.length < 10) {
    const page = await list(`?cursor=${cursor}&limit=3`);
    seen.push(...idsOf(page));
    cursor = page.nextCursor;
  }
  expect(seen.toSorted()).toEqual((await written).flat().toSorted());
});

test('positions grow also while the clock of the database is set back', async () => {
  await insert(plane.db);
  await sql`update webhook_events set position = position + 60000000`.execute(plane.db);
  const { nextCursor } = await list();
  const next = await insert(plane.db);
  expect(idsOf(await list(`?cursor=${nextCursor}`))).toEqual([next]);
});

test('the events of other workspaces are not listed', async () => {
  const other = newId('ws');
  await plane.db.insertInto('workspaces').values({ id: other, name: 'Other' }).execute();
  await insert(plane.db, { workspaceId: other });
  const own = await insert(plane.db);
  expect(idsOf(await list())).toEqual([own]);
});

test.each([
  '?cursor=nonsense',
  '?cursor=WyItMSJd',
  '?from=yesterday',
  '?since=yesterday',
  '?limit=0',
  '?limit=Infinity',
])('refuses %s', async (query) => {
  const { status, body } = await get(query);
  expect([status, body.code]).toEqual([400, 'validation_failed']);
});
