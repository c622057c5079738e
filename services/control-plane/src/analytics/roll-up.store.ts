import { RUNGS } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { STARTUP_BOUNDS } from './startup-times.ts';
import { PARTS } from './watched-parts.ts';

/** A day of a video whose reports have changed, and how often. `workspaceId` is null if the video no longer exists. */
export type ChangedDay = { videoId: string; day: string; changes: number; workspaceId: string | null };

/** Up to `limit` days of videos whose reports have changed since their roll-up, in the order of their key. */
export async function findChangedDays(
  db: Database,
  { after, limit }: { after: ChangedDay | undefined; limit: number },
): Promise<ChangedDay[]> {
  const { rows } = await sql<ChangedDay>`
    select video_id as "videoId", day::text, changes, workspace_id as "workspaceId"
    from view_changes left join videos on id = video_id
    where (video_id, day) > (${after?.videoId ?? ''}, ${after?.day ?? '-infinity'}::date)
    order by video_id, day limit ${limit}`.execute(db);
  return rows;
}

/** The views that include each part. */
const RETENTION = sql.join(
  Array.from(
    { length: PARTS },
    (_, part) => sql`count(*) filter (where get_bit(watched, ${sql.lit(part)}) = 1)::int`,
  ),
);

/** Milliseconds that were watched at each rung. */
const AT_RUNGS = sql.join(
  RUNGS.map(
    (rung, index) =>
      sql`(${sql.lit(rung)}, bit_count(substring(watched_at_rungs from ${sql.lit(index * PARTS + 1)} for ${sql.lit(PARTS)})))`,
  ),
);

/**
 * Sums up the reports of these days again. Figures that count more views than these stay: those were summed up from more reports, by another
 * control plane, or before a restore.
 */
export async function rollUp(db: Database, days: readonly ChangedDay[]): Promise<void> {
  await sql`
    with reports as (
      select day, video_id, workspace_id, environment, visitor, watched, watched_at_rungs, startup_ms, stall_ms, error, device, country,
        greatest(stalls, bit_count(stalled)) as stalls, coalesce(duration, 0) as duration,
        coalesce(watch_ms, bit_count(watched) * coalesce(duration, 0) * 1000 / ${sql.lit(PARTS)}) as watch_ms,
        coalesce(watch_ms, 0) > 0 or bit_count(watched) > 0 as is_view
      from ${selected(days)} join view_sessions using (video_id, day) join videos on videos.id = video_id
      where deleted_at is null
    ), names as (
      select day, video_id, kind, name, count(*) as count
      from reports, lateral (values
        ('devices', device), ('countries', country), ('errors', error),
        ('startup', width_bucket(startup_ms, ${sql.lit(`{${STARTUP_BOUNDS}}`)}::int[])::text)
      ) as named (kind, name)
      where name is not null and (is_view or kind = 'errors')
      group by day, video_id, kind, name
      union all
      select day, video_id, 'renditions', name, round(sum(parts * duration * 1000 / ${sql.lit(PARTS)}))::bigint
      from reports, lateral (values ${AT_RUNGS}) as at_rung (name, parts)
      where parts > 0
      group by day, video_id, name
    ), breakdowns as (
      select day, video_id, jsonb_object_agg(kind, counts) as breakdowns
      from (
        select day, video_id, kind, jsonb_object_agg(name, count) as counts from names group by day, video_id, kind
      ) as kinds
      group by day, video_id
    ), totals as (
      select day, video_id, workspace_id, environment, count(*) filter (where is_view) as views,
        count(distinct visitor) filter (where is_view) as unique_viewers, round(sum(watch_ms))::bigint as watch_ms,
        sum(stalls) as stalls, sum(stall_ms) as stall_ms, array[${RETENTION}] as retention
      from reports group by day, video_id, workspace_id, environment
    )
    insert into views_daily as known (
      day, video_id, workspace_id, environment, views, unique_viewers, watch_ms, stalls, stall_ms, retention, breakdowns
    )
    select day, video_id, workspace_id, environment, views, unique_viewers, watch_ms, stalls, stall_ms, retention,
      coalesce(breakdowns, '{}')
    from totals left join breakdowns using (day, video_id)
    order by video_id, day
    on conflict (video_id, day) do update set
      views = excluded.views, unique_viewers = excluded.unique_viewers, watch_ms = excluded.watch_ms, stalls = excluded.stalls,
      stall_ms = excluded.stall_ms, retention = excluded.retention, breakdowns = excluded.breakdowns
    where excluded.views >= known.views`.execute(db);
}

/** Counts the viewers of the workspaces of these days again. A viewer of several videos counts once. */
export async function countViewers(db: Database, days: readonly ChangedDay[]): Promise<void> {
  await sql`
    insert into viewers_daily as known (workspace_id, environment, day, unique_viewers)
    select videos.workspace_id, videos.environment, view_sessions.day, count(distinct visitor)
    from (
      select distinct workspace_id, environment, day from ${selected(days)} join videos on videos.id = video_id
    ) as touched
    join videos using (workspace_id, environment)
    join view_sessions on video_id = videos.id and view_sessions.day = touched.day
    where videos.deleted_at is null and (coalesce(watch_ms, 0) > 0 or bit_count(watched) > 0)
    group by videos.workspace_id, videos.environment, view_sessions.day
    order by videos.workspace_id, videos.environment, view_sessions.day
    on conflict (workspace_id, environment, day) do update set unique_viewers = excluded.unique_viewers
    where excluded.unique_viewers >= known.unique_viewers`.execute(db);
}

/** Ends these changes, unless others have come. */
export async function endChanges(db: Database, days: readonly ChangedDay[]): Promise<void> {
  await sql`
    delete from view_changes using ${selected(days)}
    where view_changes.video_id = changed.video_id and view_changes.day = changed.day
      and view_changes.changes = changed.changes`.execute(db);
}

/** The days as rows of a table named `changed`. */
function selected(days: readonly ChangedDay[]) {
  return sql`unnest(
    ${days.map(({ videoId }) => videoId)}::text[],
    ${days.map(({ day }) => day)}::date[],
    ${days.map(({ changes }) => changes)}::bigint[]
  ) as changed (video_id, day, changes)`;
}

/** Deletes the figures of days that are older. */
export async function deleteOldFigures(db: Database, olderThanDays: number): Promise<void> {
  for (const table of ['views_daily', 'viewers_daily'] as const) {
    await db
      .deleteFrom(table)
      .where(sql<boolean>`day < (now() at time zone 'UTC')::date - ${olderThanDays}::int`)
      .execute();
  }
}
