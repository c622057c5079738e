import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
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

/** Stores requests of one workspace. It never has more than its limits in a committed state. */
export async function storeRequests(
  db: Database,
  workspaceId: string,
  entries: readonly NewEntry[],
  limits = { entries: STORED_ENTRIES, bytes: STORED_BYTES },
): Promise<void> {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  await db.transaction().execute(async (trx) => {
    // The row of the sums first: it is the lock of the workspace.
    const size = await trx
      .insertInto('request_log_sizes')
      .values({ workspace_id: workspaceId, entries: entries.length, bytes })
      .onConflict((conflict) =>
        conflict.column('workspace_id').doUpdateSet((eb) => ({
          entries: eb('request_log_sizes.entries', '+', eb.ref('excluded.entries')),
          bytes: eb('request_log_sizes.bytes', '+', eb.ref('excluded.bytes')),
        })),
      )
      .returning(['entries', 'bytes'])
      .executeTakeFirstOrThrow();
    await trx
      .insertInto('request_log')
      .values(entries as unknown as RequestLogRow[])
      .execute();
    if (size.entries > limits.entries || size.bytes > limits.bytes) {
      await deleteOldest(trx, workspaceId, limits);
    }
  });
}

async function deleteOldest(
  trx: Database,
  workspaceId: string,
  limits: { entries: number; bytes: number },
): Promise<void> {
  const kept = { entries: Math.floor(limits.entries * (1 - FREE)), bytes: limits.bytes * (1 - FREE) };
  await sql`
    with placed as (
      select id, row_number() over newest_first as place, sum(bytes) over newest_first as total
      from request_log where workspace_id = ${workspaceId}
      window newest_first as (order by created_at desc, id desc rows unbounded preceding)
    ), deleted as (
      delete from request_log using placed
      where request_log.id = placed.id and (place > ${kept.entries} or total > ${kept.bytes})
      returning bytes
    )
    update request_log_sizes set
      entries = entries - (select count(*) from deleted),
      bytes = bytes - (select coalesce(sum(bytes), 0) from deleted)
    where workspace_id = ${workspaceId}`.execute(trx);
}

/** The workspaces with requests whose time is over. */
export async function findWorkspacesWithOldRequests(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('request_log')
    .select('workspace_id')
    .distinct()
    .where('created_at', '<', sql<Date>`now() - make_interval(days => ${KEPT_DAYS})`)
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
}

/** Deletes the requests of a workspace whose time is over. */
export async function deleteOldRequests(db: Database, workspaceId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('request_log_sizes')
      .select('entries')
      .where('workspace_id', '=', workspaceId)
      .forUpdate()
      .execute();
    await sql`
      with deleted as (
        delete from request_log
        where workspace_id = ${workspaceId} and created_at < now() - make_interval(days => ${KEPT_DAYS})
        returning bytes
      )
      update request_log_sizes set
        entries = entries - (select count(*) from deleted),
        bytes = bytes - (select coalesce(sum(bytes), 0) from deleted)
      where workspace_id = ${workspaceId}`.execute(trx);
  });
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

/** Failed requests with the same problem at the same operation. */
export type ErrorGroup = Pick<RequestLogRow, 'problem_code' | 'status' | 'method' | 'route'> & {
  count: number;
  first_at: Date;
  last_at: Date;
  last_id: string;
};

/** The groups of failed requests, the most frequent first. */
export async function groupErrors(
  db: Database,
  workspaceId: string,
  filter: RequestFilter,
  limit: number,
): Promise<ErrorGroup[]> {
  return requestsOf(db, workspaceId, filter)
    .where('status', '>=', 400)
    .select(({ fn }) => [
      ...(['problem_code', 'status', 'method', 'route'] as const),
      fn.countAll<number>().as('count'),
      fn.min('created_at').as('first_at'),
      fn.max('created_at').as('last_at'),
      sql<string>`(array_agg(id order by created_at desc, id desc))[1]`.as('last_id'),
    ])
    .groupBy(['problem_code', 'status', 'method', 'route'])
    .orderBy('count', 'desc')
    .orderBy('last_id', 'desc')
    .limit(limit)
    .execute();
}
