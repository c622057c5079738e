import { RUNGS } from '@framelane/contracts/renditions';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Environment } from '../db/schema.ts';
import type { FiguresOfReports } from './figures-of-day.ts';
import { STARTUP_BOUNDS } from './startup-times.ts';
import { PARTS } from './watched-parts.ts';

/** The most reports that one statement sums up: as many as take a fraction of its time limit. */
export const SLICE = 10_000;

/** A day of a video, and its reports: exactly up to `SLICE`, or one more than that if there are more. */
export type DayOfVideo = { videoId: string; day: string; reports: number };

/** A day of a video whose reports have changed, and how often. `workspaceId` is null if the video no longer exists. */
export type ChangedDay = DayOfVideo & { changes: number; workspaceId: string | null };

/** A day of a workspace in one environment, and its reports as above. */
export type DayOfWorkspace = { workspaceId: string; environment: Environment; day: string; reports: number };

/** The reports of these rows, counted up to one more than a slice. */
const upToSlice = (rows: RawBuilder<unknown>) =>
  sql<number>`(select count(*) from (select ${rows} limit ${sql.lit(SLICE + 1)}) as counted)`;

/** Up to `limit` days of videos whose reports have changed since their roll-up, in the order of their key. */
export async function findChangedDays(
  db: Database,
  { after, limit }: { after: ChangedDay | undefined; limit: number },
): Promise<ChangedDay[]> {
  const { rows } = await sql<ChangedDay>`
    select video_id as "videoId", day::text, changes, workspace_id as "workspaceId", ${upToSlice(
      sql`from view_sessions where view_sessions.day = view_changes.day and view_sessions.video_id = view_changes.video_id`,
    )} as reports
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

/** The reports of these rows of playbacks, without those of deleted videos. */
const reportsOf = (rows: RawBuilder<unknown>) => sql`
  select day, video_id, workspace_id, environment, visitor, watched, watched_at_rungs, startup_ms, stall_ms, error, device, country,
    greatest(stalls, bit_count(stalled)) as stalls, coalesce(duration, 0) as duration,
    coalesce(watch_ms, bit_count(watched) * coalesce(duration, 0) * 1000 / ${sql.lit(PARTS)}) as watch_ms,
    coalesce(watch_ms, 0) > 0 or bit_count(watched) > 0 as is_view
  from ${rows} join videos on videos.id = video_id
  where deleted_at is null`;

/** The sums of a table `reports`, by day and video: `totals` and `breakdowns`. */
const SUMS = sql`
  names as (
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
      sum(stalls)::bigint as stalls, sum(stall_ms)::bigint as stall_ms, array[${RETENTION}] as retention
    from reports group by day, video_id, workspace_id, environment
  )`;

/** Stores figures in `views_daily`, unless they count fewer views than those that are stored. */
const storeFigures = (figures: RawBuilder<unknown>) => sql`
  insert into views_daily as known (
    day, video_id, workspace_id, environment, views, unique_viewers, watch_ms, stalls, stall_ms, retention, breakdowns
  )
  ${figures}
  on conflict (video_id, day) do update set
    views = excluded.views, unique_viewers = excluded.unique_viewers, watch_ms = excluded.watch_ms, stalls = excluded.stalls,
    stall_ms = excluded.stall_ms, retention = excluded.retention, breakdowns = excluded.breakdowns
  where excluded.views >= known.views`;

/**
 * Sums up the reports of these days again, which are at most a slice together. Figures that count more views than these stay: those were summed up from
 * more reports, by another control plane, or before a restore.
 */
export async function rollUp(db: Database, days: readonly DayOfVideo[]): Promise<void> {
  await sql`
    with reports as (${reportsOf(sql`${selected(days)} join view_sessions using (video_id, day)`)}), ${SUMS}
    ${storeFigures(sql`
      select day, video_id, workspace_id, environment, views, unique_viewers, watch_ms, stalls, stall_ms, retention,
        coalesce(breakdowns, '{}')
      from totals left join breakdowns using (day, video_id)
      order by video_id, day`)}`.execute(db);
}

/** The sums of a slice of a day. `last` is its last session; `visitors` are the hashes of its viewers, one after the other. */
export type SliceOfDay = FiguresOfReports & { reports: number; last: string; visitors: Buffer | null };

/** Sums up a slice of a day: the reports after that of session `after`. Undefined if there are none, or the video is deleted. */
export async function sumSlice(
  db: Database,
  { videoId, day }: DayOfVideo,
  after: string | undefined,
): Promise<SliceOfDay | undefined> {
  const { rows } = await sql<SliceOfDay>`
    with slice as materialized (${sliceOf({ videoId, day }, after)}),
      reports as (${reportsOf(sql`slice`)}), ${SUMS}
    select views, watch_ms as "watchMs", stalls, stall_ms as "stallMs", retention, coalesce(breakdowns, '{}') as breakdowns,
      (select count(*) from slice) as reports, (select session_id from slice order by session_id desc limit 1) as last,
      (select string_agg(distinct visitor, ''::bytea) from reports where is_view) as visitors
    from totals left join breakdowns using (day, video_id)`.execute(db);
  return rows[0];
}

/** Stores the figures of a day that was summed up in slices, as `rollUp` does. */
export async function storeSums(
  db: Database,
  { videoId, day }: DayOfVideo,
  { views, watchMs, stalls, stallMs, retention, breakdowns }: FiguresOfReports,
  uniqueViewers: number,
): Promise<void> {
  const figures = sql`
    select ${day}::date, id, workspace_id, environment, ${views}::bigint, ${uniqueViewers}::bigint, ${watchMs}::bigint,
      ${stalls}::bigint, ${stallMs}::bigint, ${retention}::int[], ${JSON.stringify(breakdowns)}::jsonb
    from videos where id = ${videoId} and deleted_at is null`;
  await storeFigures(figures).execute(db);
}

/** The days of the workspaces of these days. */
export async function findDaysOfWorkspaces(
  db: Database,
  days: readonly ChangedDay[],
): Promise<DayOfWorkspace[]> {
  const { rows } = await sql<DayOfWorkspace>`
    select workspace_id as "workspaceId", environment, day::text, ${upToSlice(sql`
      from views_daily join view_sessions using (video_id, day)
      where views_daily.workspace_id = touched.workspace_id and views_daily.environment = touched.environment
        and views_daily.day = touched.day`)} as reports
    from (
      select distinct workspace_id, environment, day from ${selected(days)} join videos on id = video_id
      where deleted_at is null
    ) as touched
    order by workspace_id, environment, day`.execute(db);
  return rows;
}

/** Counts the viewers of these workspaces again, which have at most a slice of reports together. A viewer of several videos counts once. */
export async function countViewers(db: Database, days: readonly DayOfWorkspace[]): Promise<void> {
  await storeViewers(sql`
    select workspace_id, environment, view_sessions.day, count(distinct visitor)
    from unnest(
      ${days.map(({ workspaceId }) => workspaceId)}::text[],
      ${days.map(({ environment }) => environment)}::text[],
      ${days.map(({ day }) => day)}::date[]
    ) as touched (workspace_id, environment, day)
    join views_daily using (workspace_id, environment, day)
    join view_sessions on view_sessions.video_id = views_daily.video_id and view_sessions.day = touched.day
    where ${isView('view_sessions')}
    group by workspace_id, environment, view_sessions.day
    order by workspace_id, environment, view_sessions.day`).execute(db);
}

/** Up to `limit` videos that were watched in a workspace on a day, in the order of their ids. */
export async function findWatchedVideos(
  db: Database,
  { workspaceId, environment, day }: DayOfWorkspace,
  { after, limit }: { after: string; limit: number },
): Promise<DayOfVideo[]> {
  const { rows } = await sql<DayOfVideo>`
    select video_id as "videoId", day::text, ${upToSlice(sql`
      from view_sessions where view_sessions.day = watched.day and view_sessions.video_id = watched.video_id`)} as reports
    from views_daily as watched
    where workspace_id = ${workspaceId} and environment = ${environment} and day = ${day} and video_id > ${after}
    order by video_id limit ${limit}`.execute(db);
  return rows;
}

/** The hashes of the viewers of these days, which are at most a slice together, one after the other. */
export async function findVisitors(db: Database, days: readonly DayOfVideo[]): Promise<Buffer> {
  const { rows } = await sql<{ visitors: Buffer | null }>`
    select string_agg(distinct visitor, ''::bytea) as visitors
    from unnest(
      ${days.map(({ videoId }) => videoId)}::text[], ${days.map(({ day }) => day)}::date[]
    ) as asked (video_id, day) join view_sessions using (video_id, day)
    where ${isView('view_sessions')}`.execute(db);
  return rows[0]?.visitors ?? Buffer.alloc(0);
}

/** The viewers of a slice of a day, as in `sumSlice`. */
export async function findVisitorsOfSlice(
  db: Database,
  day: DayOfVideo,
  after: string | undefined,
): Promise<Pick<SliceOfDay, 'reports' | 'last' | 'visitors'> | undefined> {
  const { rows } = await sql<Pick<SliceOfDay, 'reports' | 'last' | 'visitors'>>`
    with slice as materialized (${sliceOf(day, after)})
    select (select count(*) from slice) as reports, session_id as last,
      (select string_agg(distinct visitor, ''::bytea) from slice where ${isView('slice')}) as visitors
    from slice order by session_id desc limit 1`.execute(db);
  return rows[0];
}

/** Stores the viewers of a workspace who were counted in slices, as `countViewers` does. */
export async function storeViewerCount(
  db: Database,
  { workspaceId, environment, day }: DayOfWorkspace,
  count: number,
): Promise<void> {
  const counted = sql`values (${workspaceId}, ${environment}, ${day}::date, ${count}::bigint)`;
  await storeViewers(counted).execute(db);
}

const storeViewers = (counted: RawBuilder<unknown>) => sql`
  insert into viewers_daily as known (workspace_id, environment, day, unique_viewers)
  ${counted}
  on conflict (workspace_id, environment, day) do update set unique_viewers = excluded.unique_viewers
  where excluded.unique_viewers >= known.unique_viewers`;

/** Whether something was watched in a playback of this table. */
const isView = (table: 'view_sessions' | 'slice') =>
  sql<boolean>`(coalesce(${sql.ref(`${table}.watch_ms`)}, 0) > 0 or bit_count(${sql.ref(`${table}.watched`)}) > 0)`;

/** The rows of a slice of a day, in the order of the primary key. */
function sliceOf({ videoId, day }: Pick<DayOfVideo, 'videoId' | 'day'>, after: string | undefined) {
  return sql`
    select * from view_sessions
    where day = ${day} and video_id = ${videoId} and session_id > ${after ?? NO_SESSION}::uuid
    order by session_id limit ${sql.lit(SLICE)}`;
}

/** Before the first session: no hash is this one. */
const NO_SESSION = '00000000-0000-0000-0000-000000000000';

/** Ends these changes, unless others have come. */
export async function endChanges(db: Database, days: readonly ChangedDay[]): Promise<void> {
  await sql`
    delete from view_changes using unnest(
      ${days.map(({ videoId }) => videoId)}::text[],
      ${days.map(({ day }) => day)}::date[],
      ${days.map(({ changes }) => changes)}::bigint[]
    ) as changed (video_id, day, changes)
    where view_changes.video_id = changed.video_id and view_changes.day = changed.day
      and view_changes.changes = changed.changes`.execute(db);
}

/** The days as rows of a table named `changed`. */
function selected(days: readonly DayOfVideo[]) {
  return sql`unnest(
    ${days.map(({ videoId }) => videoId)}::text[], ${days.map(({ day }) => day)}::date[]
  ) as changed (video_id, day)`;
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
