import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Environment } from '../db/schema.ts';

/** Whose figures: one video, or all videos of a workspace in one environment. */
export type Subject = { videoId: string } | { workspaceId: string; environment: Environment };

/** The first and the last day, e.g. `2026-11-01`. */
export type Days = { first: string; last: string };

/** The figures of one day. `watchedParts` is the sum over all views of the hundredths that each includes. */
export type FiguresOfDay = {
  day: string;
  views: number;
  uniqueViewers: number;
  watchMs: number;
  stalls: number;
  stallMs: number;
  watchedParts: number;
};

/** How often a name occurs among the `devices`, for example. */
export type NamedCount = { kind: string; name: string; count: number };

/** The figures of one video of a workspace. */
export type FiguresOfVideo = {
  videoId: string;
  title: string;
  views: number;
  watchMs: number;
  watchedParts: number;
};

/** The days that have figures, earliest first. */
export async function findFigures(db: Database, subject: Subject, days: Days): Promise<FiguresOfDay[]> {
  const { rows } = await sql<FiguresOfDay>`
    select day::text, sum(views)::bigint as views, ${uniqueViewers(subject)} as "uniqueViewers", sum(watch_ms)::bigint as "watchMs",
      sum(stalls)::bigint as stalls, sum(stall_ms)::bigint as "stallMs",
      sum((select sum(part) from unnest(retention) as part))::bigint as "watchedParts"
    from views_daily where ${of(subject, days)}
    group by day order by day`.execute(db);
  return rows;
}

/** The counts by kind and name of all these days, most first. */
export async function findCounts(db: Database, subject: Subject, days: Days): Promise<NamedCount[]> {
  const { rows } = await sql<NamedCount>`
    select kinds.key as kind, names.key as name, sum(names.value::bigint)::bigint as count
    from views_daily, jsonb_each(breakdowns) as kinds, jsonb_each_text(kinds.value) as names
    where ${of(subject, days)}
    group by kinds.key, names.key
    order by count desc, name`.execute(db);
  return rows;
}

/** The videos of a workspace with the most views on these days, the most first. */
export async function findTopVideos(
  db: Database,
  subject: Extract<Subject, { workspaceId: string }>,
  days: Days,
  limit: number,
): Promise<FiguresOfVideo[]> {
  const { rows } = await sql<FiguresOfVideo>`
    with top as (
      select video_id, sum(views)::bigint as views, sum(watch_ms)::bigint as watch_ms,
        sum((select sum(part) from unnest(retention) as part))::bigint as watched_parts
      from views_daily where ${of(subject, days)}
      group by video_id having sum(views) > 0
      order by views desc, video_id limit ${limit}
    )
    select video_id as "videoId", title, views, watch_ms as "watchMs", watched_parts as "watchedParts"
    from top join videos on id = video_id
    order by views desc, video_id`.execute(db);
  return rows;
}

/** The number of views that include each hundredth of a video; empty without figures. */
export async function findRetention(db: Database, videoId: string, days: Days): Promise<number[]> {
  const { rows } = await sql<{ views: number }>`
    select sum(part.views)::bigint as views
    from views_daily, unnest(retention) with ordinality as part (views, number)
    where ${of({ videoId }, days)}
    group by part.number order by part.number`.execute(db);
  return rows.map(({ views }) => views);
}

/** A viewer of several videos of a workspace counts once a day. */
function uniqueViewers(subject: Subject) {
  if ('videoId' in subject) return sql`sum(unique_viewers)::bigint`;
  return sql`coalesce((
    select unique_viewers from viewers_daily
    where workspace_id = ${subject.workspaceId} and environment = ${subject.environment} and viewers_daily.day = views_daily.day
  ), 0)`;
}

function of(subject: Subject, { first, last }: Days) {
  const period = sql<boolean>`day between ${first} and ${last}`;
  return 'videoId' in subject
    ? sql<boolean>`video_id = ${subject.videoId} and ${period}`
    : sql<boolean>`workspace_id = ${subject.workspaceId} and environment = ${subject.environment} and ${period}`;
}
