import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Environment } from '../db/schema.ts';

/** The usage on one UTC day, e.g. `2026-11-21`. `storageBytes` is null if nothing was recorded on that day. */
export type UsageOfDay = {
  day: string;
  transcodedMs: number;
  bandwidthBytes: number;
  storageBytes: number | null;
};

/** Bytes sent of one video on one UTC day. */
export type SentBytes = { videoId: string; day: string; bytes: number };

/** The days from `first` to `last` that have usage, earliest first. */
export async function findUsage(
  db: Database,
  workspaceId: string,
  environment: Environment,
  { first, last }: { first: string; last: string },
): Promise<UsageOfDay[]> {
  return db
    .selectFrom('usage_daily')
    .select([
      sql<string>`day::text`.as('day'),
      'transcoded_ms as transcodedMs',
      'bandwidth_bytes as bandwidthBytes',
      'storage_bytes as storageBytes',
    ])
    .where('workspace_id', '=', workspaceId)
    .where('environment', '=', environment)
    .where(sql<boolean>`day between ${first} and ${last}`)
    .orderBy('day')
    .execute();
}

/** The number of videos that are not deleted, and their stored bytes. */
export async function findStored(
  db: Database,
  workspaceId: string,
  environment: Environment,
): Promise<{ videos: number; bytes: number }> {
  return db
    .selectFrom('videos')
    .select([
      sql<number>`count(*)`.as('videos'),
      sql<number>`coalesce(sum(storage_bytes), 0)::bigint`.as('bytes'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('environment', '=', environment)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
}

/**
 * Records the stored bytes of every workspace as the storage of today. Records zero, too, if the workspace has stored something
 * before. Reads only the index of stored bytes.
 */
export async function recordStored(db: Database): Promise<void> {
  await sql`
    with stored as (
      select workspace_id, environment, sum(storage_bytes) as bytes from videos
      where deleted_at is null
      group by workspace_id, environment
    )
    insert into usage_daily (workspace_id, environment, day, storage_bytes)
    select workspaces.id, environments.name, (now() at time zone 'UTC')::date, coalesce(bytes, 0)
    from workspaces
    cross join (values ('live'), ('test')) as environments (name)
    left join stored on stored.workspace_id = workspaces.id and stored.environment = environments.name
    where bytes is not null or exists (
      select from usage_daily earlier
      where earlier.workspace_id = workspaces.id and earlier.environment = environments.name
        and earlier.storage_bytes is not null
    )
    order by workspaces.id, environments.name
    on conflict (workspace_id, environment, day)
    do update set storage_bytes = excluded.storage_bytes`.execute(db);
}

/** Adds to the transcoded time of today. */
export async function addTranscoded(
  db: Database,
  workspaceId: string,
  environment: Environment,
  milliseconds: number,
): Promise<void> {
  await sql`
    insert into usage_daily as usage (workspace_id, environment, day, transcoded_ms)
    values (${workspaceId}, ${environment}, (now() at time zone 'UTC')::date, ${milliseconds})
    on conflict (workspace_id, environment, day)
    do update set transcoded_ms = usage.transcoded_ms + excluded.transcoded_ms`.execute(db);
}

/**
 * Adds to the bandwidth of the workspaces that own these videos. Rows are locked in the order of their key, which prevents
 * deadlocks between control planes.
 */
export async function addBandwidth(db: Database, sent: readonly SentBytes[]): Promise<void> {
  const videoIds = sent.map(({ videoId }) => videoId);
  const days = sent.map(({ day }) => day);
  const bytes = sent.map((each) => each.bytes);
  await sql`
    insert into usage_daily as usage (workspace_id, environment, day, bandwidth_bytes)
    select workspace_id, environment, sent.day, sum(sent.bytes)
    from unnest(${videoIds}::text[], ${days}::date[], ${bytes}::bigint[]) as sent (video_id, day, bytes)
    join videos on videos.id = sent.video_id
    group by workspace_id, environment, sent.day
    order by workspace_id, environment, sent.day
    on conflict (workspace_id, environment, day)
    do update set bandwidth_bytes = usage.bandwidth_bytes + excluded.bandwidth_bytes`.execute(db);
}
