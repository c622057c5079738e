import { sql } from 'kysely';
import { readInBatches } from '../db/cursor.ts';
import type { Database } from '../db/database.ts';
import { type NamedObject, namedObjects, type StoredVideo } from './named-objects.ts';

/** Videos that one query reads. A long video has some 100,000 segments. */
const BATCH = 20;

/** The roots of all object keys, in order, and whether the artifacts below each have an attempt. */
const ROOTS = [
  { root: 'hls/', hasAttempt: true },
  { root: 'sources/', hasAttempt: false },
] as const;

/**
 * Every object that the rows name, in the order of the keys: first the output of attempts, then the uploaded files. Call it in a transaction
 * with one snapshot.
 */
export async function* allNamedObjects(trx: Database): AsyncGenerator<NamedObject, void> {
  for await (const video of storedVideos(trx)) yield* namedObjects(video);
}

async function* storedVideos(trx: Database): AsyncGenerator<StoredVideo, void> {
  for (const { root, hasAttempt } of ROOTS) {
    const cursor = root.slice(0, -1);
    for await (const rows of readInBatches(trx, cursor, storedBelow(hasAttempt), BATCH)) yield* rows;
  }
}

/** What the rows of a video say about its objects. */
export async function findStoredVideo(db: Database, videoId: string): Promise<StoredVideo | undefined> {
  const { rows } = await sql<StoredVideo>`
    select video.workspace_id as "workspaceId", video.id as "videoId", packaging,
      ${artifactsOf(sql`true`)} as artifacts, ${RESULTS} as results
    from videos video where id = ${videoId}`.execute(db);
  return rows[0];
}

/** Whether a video has work that may store or purge objects of no row. */
export async function hasWorkInProgress(db: Database, videoId: string): Promise<boolean> {
  const { rows } = await sql<{ isInProgress: boolean }>`
    select exists (select from videos where id = ${videoId} and deleted_at is null and status in ('uploading', 'processing'))
      or exists (select from tasks where video_id = ${videoId})
      or exists (select from object_purges where video_id = ${videoId}) as "isInProgress"`.execute(db);
  return rows[0]?.isInProgress === true;
}

const artifactsOf = (condition: ReturnType<typeof sql<boolean>>) => sql`coalesce((
  select jsonb_agg(jsonb_build_object('kind', kind, 'name', artifact.name, 'firstSegment', first_segment,
    'attempt', attempt, 'folder', folder, 'bytes', bytes,
    'segmentBytes', segment_bytes[first_segment + 1 : coalesce(next_segment, cardinality(segment_bytes))]))
  from (
    select *, lead(first_segment) over (partition by kind, name order by first_segment) as next_segment
    from artifacts where artifacts.video_id = video.id and ${condition}
  ) artifact
  left join renditions on kind = 'segments' and renditions.video_id = video.id and renditions.name = artifact.name
), '[]')`;

/** The revision of a plan is in the folders of an open attempt only. */
const RESULTS = sql`coalesce((
  select jsonb_agg(jsonb_build_object('attempt', attempt, 'task', tasks.number, 'try', tries, 'result', result,
    'revision', case when outcome is null then coalesce((plan -> 'revision')::int, 0) else 0 end))
  from tasks join attempts on attempts.video_id = tasks.video_id and attempts.number = attempt
  where tasks.video_id = video.id and result is not null
), '[]')`;

function storedBelow(hasAttempt: boolean) {
  const condition = hasAttempt ? sql<boolean>`attempt is not null` : sql<boolean>`attempt is null`;
  const results = hasAttempt ? RESULTS : sql`'[]'::jsonb`;
  return sql<StoredVideo>`
    select video.workspace_id as "workspaceId", video.id as "videoId", packaging,
      ${artifactsOf(condition)} as artifacts, ${results} as results
    from videos video
    where exists (select from artifacts where video_id = video.id and ${condition})
      ${hasAttempt ? sql`or exists (select from tasks where video_id = video.id and result is not null)` : sql``}
    order by workspace_id || '/' collate "C", id || '/' collate "C"`;
}
