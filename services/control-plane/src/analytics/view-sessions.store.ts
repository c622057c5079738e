import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ViewReport } from './view-report.ts';
import type { WatchedParts } from './watched-parts.ts';

/** What a report can be checked against. */
export type ReportedVideo = { workspaceId: string; duration: number | null };

/** Those of these videos that exist, by id. */
export async function findReportedVideos(
  db: Database,
  ids: readonly string[],
): Promise<Map<string, ReportedVideo>> {
  const { rows } = await sql<ReportedVideo & { id: string }>`
    select id, workspace_id as "workspaceId", duration from videos
    where id = any(${ids}::text[]) and deleted_at is null`.execute(db);
  return new Map(rows.map(({ id, ...video }) => [id, video]));
}

/** The durations of the segments of these renditions. */
export async function findSegmentDurations(
  db: Database,
  renditions: readonly { videoId: string; rendition: string }[],
): Promise<{ videoId: string; rendition: string; durations: number[] }[]> {
  const { rows } = await sql<{ videoId: string; rendition: string; durations: number[] }>`
    select video_id as "videoId", name as rendition, segment_durations as durations
    from renditions join unnest(
      ${renditions.map(({ videoId }) => videoId)}::text[],
      ${renditions.map(({ rendition }) => rendition)}::text[]
    ) as asked (video_id, name) using (video_id, name)`.execute(db);
  return rows;
}

/**
 * Unites reports with what is stored of their playbacks. A playback that began yesterday stays one of yesterday. Earlier days than yesterday, as
 * after a long failure of the database, are dropped, and so are days after tomorrow, as from a control plane whose clock is wrong: they may have no
 * partition, and one such report would fail the whole statement. Rows are locked in the order of their key, which prevents deadlocks between control
 * planes.
 */
export async function addReports(
  db: Database,
  reports: readonly (ViewReport & { parts: WatchedParts; stalledParts: string })[],
): Promise<void> {
  const column = <T>(of: (report: (typeof reports)[number]) => T) => reports.map(of);
  await sql`
    with given as (
      select coalesce(earlier.day, report.day) as placed_day, report.*
      from unnest(
        ${column(({ day }) => day)}::date[],
        ${column(({ videoId }) => videoId)}::text[],
        ${column(({ sessionId }) => sessionId)}::uuid[],
        ${column(({ visitor }) => visitor)}::bytea[],
        ${column(({ parts }) => parts.all)}::text[],
        ${column(({ parts }) => parts.byRung)}::text[],
        ${column(({ stalledParts }) => stalledParts)}::text[],
        ${column(({ watchMs }) => watchMs)}::int[],
        ${column(({ startupMs }) => startupMs)}::int[],
        ${column(({ stalls }) => stalls)}::int[],
        ${column(({ stallMs }) => stallMs)}::int[],
        ${column(({ error }) => error)}::text[],
        ${column(({ device }) => device)}::text[],
        ${column(({ country }) => country)}::text[]
      ) as report (
        day, video_id, session_id, visitor, watched, watched_at_rungs, stalled, watch_ms, startup_ms, stalls, stall_ms, error, device, country
      )
      left join view_sessions earlier on earlier.day = report.day - 1
        and earlier.video_id = report.video_id and earlier.session_id = report.session_id
      where report.day between (now() at time zone 'UTC')::date - 1 and (now() at time zone 'UTC')::date + 1
    ), stored as (
      insert into view_sessions as known (
        day, video_id, session_id, visitor, watched, watched_at_rungs, stalled, watch_ms, startup_ms, stalls, stall_ms, error, device, country
      )
      select placed_day, video_id, session_id, visitor, watched::bit(100), watched_at_rungs::bit(400), stalled::bit(100), watch_ms, startup_ms, stalls,
        stall_ms, error, device, country
      from given order by placed_day, video_id, session_id
      on conflict (day, video_id, session_id) do update set
        watched = known.watched | excluded.watched,
        watched_at_rungs = known.watched_at_rungs | excluded.watched_at_rungs,
        stalled = known.stalled | excluded.stalled,
        watch_ms = greatest(known.watch_ms, excluded.watch_ms),
        startup_ms = greatest(known.startup_ms, excluded.startup_ms),
        stalls = greatest(known.stalls, excluded.stalls),
        stall_ms = greatest(known.stall_ms, excluded.stall_ms),
        error = greatest(known.error, excluded.error)
    )
    insert into view_changes as changed (video_id, day)
    select distinct video_id, placed_day from given order by video_id, placed_day
    on conflict (video_id, day) do update set changes = changed.changes + 1`.execute(db);
}

/** Reports that one statement deletes: as many as take a fraction of its time limit. */
const DELETED_AT_ONCE = 10_000;

/** Deletes the reports of these days whose video was deleted. */
export async function deleteDiscarded(
  db: Database,
  days: readonly { videoId: string; day: string }[],
): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from view_sessions where (day, video_id, session_id) in (
        select day, video_id, session_id
        from unnest(${days.map(({ videoId }) => videoId)}::text[], ${days.map(({ day }) => day)}::date[]) as changed (video_id, day)
        join view_sessions using (video_id, day)
        where not exists (select from videos where id = video_id and deleted_at is null)
        limit ${DELETED_AT_ONCE}
      )`.execute(db);
    if (numAffectedRows < DELETED_AT_ONCE) return;
  }
}
