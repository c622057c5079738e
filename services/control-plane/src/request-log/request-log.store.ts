import { type SelectQueryBuilder, sql } from 'kysely';
import { type Database, databaseTime } from '../db/database.ts';
import { createDayPartitions, dropDayPartitions } from '../db/day-partitions.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type { RequestLogRow, Schema } from '../db/schema.ts';
import type { RequestFilter } from './request-filter.ts';

/** The most that is stored of one workspace. Beyond it, the oldest requests are deleted until a tenth is free. */
export const STORED_ENTRIES = 10_000;
export const STORED_BYTES = 64 * 1024 ** 2;
const FREE = 0.1;

const KEPT_DAYS = 7;

/** A request to store. Its JSON is text. */
export type NewEntry = Omit<
  RequestLogRow,
  'query' | 'request_headers' | 'request_body' | 'response_headers' | 'response_body'
> & {
  query: string;
  request_headers: string;
  request_body: string | null;
  response_headers: string;
  response_body: string | null;
};

/** Entries whose time differs more from that of the database are not stored: they may have no partition, and would fail the whole statement. */
const DAY_MS = 86_400_000;

/**
 * Stores requests of one workspace. It never has more than its limits in a committed state. Resolves with the number of entries whose time is wrong,
 * as from a control plane whose clock has jumped; they are not stored.
 */
export async function storeRequests(
  db: Database,
  workspaceId: string,
  entries: readonly NewEntry[],
  limits = { entries: STORED_ENTRIES, bytes: STORED_BYTES },
): Promise<number> {
  const store = () => insertEntries(db, workspaceId, entries, limits);
  return store().catch(async (error: unknown) => {
    if (!isPartitionMissing(error)) throw error;
    // Maintenance has not run yet, or not for days.
    await createDayPartitions(db, 'request_log');
    return store();
  });
}

/** PostgreSQL reports a row without a partition as a violated check, without the name of one. */
function isPartitionMissing(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

async function insertEntries(
  db: Database,
  workspaceId: string,
  entries: readonly NewEntry[],
  limits: { entries: number; bytes: number },
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    // Held until the end, so that the sums are those of all rows.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`requests of ${workspaceId}`}, 0))`.execute(
      trx,
    );
    const now = (await databaseTime(trx)).getTime();
    const timely = entries.filter(({ created_at }) => Math.abs(created_at.getTime() - now) < DAY_MS);
    if (timely.length === 0) return entries.length;
    await trx
      .insertInto('request_log')
      .values(timely as unknown as RequestLogRow[])
      .execute();
    await trx
      .insertInto('request_log_sizes')
      .values(sizesByDay(workspaceId, timely))
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'day']).doUpdateSet((eb) => ({
          entries: eb('request_log_sizes.entries', '+', eb.ref('excluded.entries')),
          bytes: eb('request_log_sizes.bytes', '+', eb.ref('excluded.bytes')),
        })),
      )
      .execute();
    const stored = await trx
      .selectFrom('request_log_sizes')
      .select(({ fn }) => [
        fn.sum<number>('entries').as('entries'),
        sql<number>`sum(bytes)::bigint`.as('bytes'),
      ])
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    if (stored.entries > limits.entries || stored.bytes > limits.bytes) {
      await deleteOldest(trx, workspaceId, limits);
    }
    return entries.length - timely.length;
  });
}

/** The rows of request_log_sizes for these entries. A day is one in UTC, as that of a partition. */
function sizesByDay(workspaceId: string, entries: readonly NewEntry[]) {
  const days = Map.groupBy(entries, ({ created_at }) => created_at.toISOString().slice(0, 10));
  return [...days].map(([day, some]) => ({
    workspace_id: workspaceId,
    day,
    entries: some.length,
    bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
  }));
}

async function deleteOldest(
  trx: Database,
  workspaceId: string,
  limits: { entries: number; bytes: number },
): Promise<void> {
  const kept = { entries: Math.floor(limits.entries * (1 - FREE)), bytes: limits.bytes * (1 - FREE) };
  await sql`
    with newest_deleted as (
      select created_at, id
      from (
        select created_at, id, row_number() over newest_first as place, sum(bytes) over newest_first as total
        from request_log where workspace_id = ${workspaceId}
        window newest_first as (order by created_at desc, id desc rows unbounded preceding)
      ) as placed
      where place > ${kept.entries} or total > ${kept.bytes}
      order by created_at desc, id desc limit 1
    ), deleted as (
      delete from request_log using newest_deleted as limits
      where workspace_id = ${workspaceId} and (request_log.created_at, request_log.id) <= (limits.created_at, limits.id)
      returning (request_log.created_at at time zone 'UTC')::date as day, bytes
    ), freed as (
      select day, count(*) as entries, sum(bytes) as bytes from deleted group by day
    )
    update request_log_sizes as sizes set entries = sizes.entries - freed.entries, bytes = sizes.bytes - freed.bytes
    from freed where workspace_id = ${workspaceId} and sizes.day = freed.day`.execute(trx);
}

/** Creates the partitions of the next days, and drops those of days whose time is over. */
export async function keepRequestDays(db: Database): Promise<void> {
  await createDayPartitions(db, 'request_log');
  await dropDayPartitions(db, 'request_log', KEPT_DAYS);
  await db
    .deleteFrom('request_log_sizes')
    .where(sql<boolean>`day < (now() at time zone 'UTC')::date - ${KEPT_DAYS}::int`)
    .execute();
}

function requestsOf(db: Database, workspaceId: string, filter: RequestFilter) {
  const { statusClass, pathPrefix, createdAfter, createdBefore } = filter;
  const equal = { method: filter.method, key_id: filter.keyId, problem_code: filter.code } as const;
  return db
    .selectFrom('request_log')
    .where((eb) =>
      eb.and([
        eb('workspace_id', '=', workspaceId),
        sql<boolean>`created_at >= now() - make_interval(days => ${KEPT_DAYS})`,
        ...(Object.keys(equal) as (keyof typeof equal)[]).flatMap((column) =>
          equal[column] === undefined ? [] : [eb(column, '=', equal[column])],
        ),
        ...(filter.requestId === undefined ? [] : [eb('request_id', '=', filter.requestId)]),
        ...(statusClass === undefined ? [] : [sql<boolean>`status / 100 = ${statusClass}`]),
        ...(pathPrefix === undefined
          ? []
          : [sql<boolean>`(starts_with(path, ${pathPrefix}) or starts_with(route, ${pathPrefix}))`]),
        ...(createdAfter === undefined ? [] : [eb('created_at', '>=', createdAfter)]),
        ...(createdBefore === undefined ? [] : [eb('created_at', '<', createdBefore)]),
      ]),
    );
}

/** What a list shows of a request. */
const LISTED = [
  ...(['id', 'request_id', 'key_id', 'key_last4', 'method', 'route', 'path', 'status'] as const),
  ...(['problem_code', 'duration_ms', 'created_at'] as const),
];
export type ListedRequest = Pick<RequestLogRow, (typeof LISTED)[number]>;

/** One page of requests. */
export async function listRequests(
  db: Database,
  workspaceId: string,
  filter: RequestFilter,
  page: PageRequest,
): Promise<ListedRequest[]> {
  const requests = requestsOf(db, workspaceId, filter).select(LISTED);
  return keysetPage(
    requests as SelectQueryBuilder<Schema, 'request_log', ListedRequest>,
    'request_log',
    page,
  ).execute();
}

/** A request; undefined if it is not stored. */
export async function findRequest(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<RequestLogRow | undefined> {
  return requestsOf(db, workspaceId, {}).selectAll().where('id', '=', id).executeTakeFirst();
}

/** What the requests of a group have in common. */
const GROUPED = ['problem_code', 'status', 'method', 'route'] as const;

/** Failed requests with the same problem at the same operation. */
export type ErrorGroup = Pick<RequestLogRow, (typeof GROUPED)[number]> & {
  count: number;
  first_at: Date;
  last_at: Date;
  last_id: string;
  /** How many of each day in UTC. */
  days: Record<string, number>;
};

/** The groups of failed requests, the most frequent first. */
export async function groupErrors(
  db: Database,
  workspaceId: string,
  filter: RequestFilter,
  limit: number,
): Promise<ErrorGroup[]> {
  const ofDays = requestsOf(db, workspaceId, filter)
    .where('status', '>=', 400)
    .select(({ fn }) => [
      ...GROUPED,
      sql<string>`(created_at at time zone 'UTC')::date::text`.as('day'),
      fn.countAll<number>().as('count'),
      fn.min('created_at').as('first_at'),
      fn.max('created_at').as('last_at'),
      sql<string>`(array_agg(id order by created_at desc, id desc))[1]`.as('last_id'),
    ])
    .groupBy([...GROUPED, 'day']);
  return db
    .selectFrom(ofDays.as('of_days'))
    .select(({ fn }) => [
      ...GROUPED,
      sql<number>`sum(count)::int`.as('count'),
      fn.min('first_at').as('first_at'),
      fn.max('last_at').as('last_at'),
      sql<string>`(array_agg(last_id order by day desc))[1]`.as('last_id'),
      sql<Record<string, number>>`jsonb_object_agg(day, count)`.as('days'),
    ])
    .groupBy(GROUPED)
    .orderBy('count', 'desc')
    .orderBy('last_id', 'desc')
    .limit(limit)
    .execute();
}
