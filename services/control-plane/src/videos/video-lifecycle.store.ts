import type { FailureCode } from '@framelane/contracts/failures';
import type { Manifest } from '@framelane/contracts/manifest';
import { DERIVATION_COMMANDS } from '@framelane/contracts/outputs/kinds';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import type { RungName } from '@framelane/contracts/renditions';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import { sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import type { AttemptOutcome, Schema, VideoRow } from '../db/schema.ts';
import { BLANK_COLUMNS } from './video-columns.store.ts';
import type { Move, NextAttempt } from './video-moves.ts';

/** A living video, its row locked until the transaction ends. Every move begins here, so moves cannot deadlock. */
export async function lockVideo(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db
    .selectFrom('videos')
    .selectAll()
    .where('id', '=', videoId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** A file that an upload has stored. */
export type StoredFile = { bytes: number; sha256: string | null };

/** Moves a video and stores its file. */
export async function storeFile(trx: Database, videoId: string, move: Move, file: StoredFile): Promise<void> {
  await moveVideo(trx, videoId, move, {
    size: file.bytes,
    sha256: file.sha256,
    uploaded_at: sql`now()`,
  });
}

/** The properties of the stored renditions that the master playlist needs. */
export type StoredRenditions = { variants: RungName[]; targetDuration: number };

/** The result of an attempt. It has the SHA-256 of the source if the upload did not. */
export type AttemptResult = {
  manifest: Manifest;
  renditions: StoredRenditions;
  sourceSha256?: string | undefined;
};

/** Moves a video and stores the result of its attempt. */
export async function storeResult(
  trx: Database,
  video: VideoRow,
  move: Move,
  { manifest, renditions, sourceSha256 }: AttemptResult,
): Promise<void> {
  const { source, duration, inputIssues } = manifest;
  const { container, videoCodec, audioCodec } = source;
  await moveVideo(trx, video.id, move, {
    duration,
    width: source.width,
    height: source.height,
    frame_rate: source.frameRate,
    source: JSON.stringify({ container, videoCodec, audioCodec }),
    sha256: video.sha256 ?? sourceSha256 ?? null,
    input_issues: JSON.stringify(inputIssues),
    variants: renditions.variants,
    target_duration: renditions.targetDuration,
    start_timestamp: manifest.startTimestamp,
    progress: 100,
    ready_at: sql`now()`,
  });
}

/** Moves a video, stores why it failed, and erases its content key. */
export async function storeFailure(
  trx: Database,
  videoId: string,
  move: Move,
  error: { code: FailureCode; message: string },
): Promise<void> {
  await moveVideo(trx, videoId, move, {
    error_code: error.code,
    error_message: error.message,
    content_key: null,
    failed_at: sql`now()`,
  });
}

/** Moves a failed video and clears its failure. */
export async function resetFailure(trx: Database, videoId: string, move: Move): Promise<void> {
  await moveVideo(trx, videoId, move, {
    error_code: null,
    error_message: null,
    failed_at: null,
    progress: 0,
    delete_source_at: null,
    retried_at: sql`(retried_at || now()::timestamptz(3))[greatest(1, cardinality(retried_at) + 2 - ${STORED_RETRIES}::int):]`,
  });
}

/** Every retry is a request of a client, so their number has no other limit. */
const STORED_RETRIES = 100;

/**
 * Moves a living video. Throws if it is in a status that the move does not begin in. Also clears the preview, which belongs to the
 * previous status or attempt.
 */
export async function moveVideo(
  trx: Database,
  videoId: string,
  { from, to }: Move,
  values: UpdateObject<Schema, 'videos'> = {},
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('videos')
    .set({
      ...values,
      updated_at: sql`now()`,
      preview_variants: null,
      ...(to === 'tombstone' ? { deleted_at: sql`now()` } : { status: to }),
    })
    .where('id', '=', videoId)
    .where('status', 'in', from)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n)
    throw new Error(`Video ${videoId} is not ${from.join(' or ')}: no move to ${to}`);
}

/**
 * Begins the next attempt at a video: its planning, or the making of a clip, waits for an engine, and a command for it is due, both after the delay. The video must have
 * no open attempt.
 */
export async function insertAttempt(
  trx: Database,
  videoId: string,
  { delaySeconds, failedTries, unreportedTries }: NextAttempt,
): Promise<void> {
  const due = inSeconds(delaySeconds);
  // The plan shows how much work there is; until then, the task has no frames. A clip needs no planning.
  await sql`
    with next as (
      update videos set attempt = attempt + 1 where id = ${videoId} returning id, workspace_id, attempt
    ), inserted as (
      insert into attempts (video_id, number, due_at) select id, attempt, ${due} from next
    )
    insert into tasks (video_id, workspace_id, attempt, number, kind, command, frames, input_bytes, failed_tries, unreported_tries, due_at,
      command_due_at, traceparent)
    select id, workspace_id, attempt, ${PLANNING_TASK}::int, kind, kind, coalesce(clips.frames, 0), disk_bytes, ${failedTries}::int,
      ${unreportedTries}::int, ${due}, ${due}, ${activeTraceparent() ?? null}::text
    from next left join clips on video_id = id
      cross join lateral (select case when video_id is null then 'plan' else 'clip' end as kind) as first`.execute(
    trx,
  );
}

/** The clips of a video that are being made. */
export async function findUnfinishedClips(db: Database, parentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('clips')
    .innerJoin('videos', 'videos.id', 'clips.video_id')
    .select('video_id')
    .where('parent_id', '=', parentId)
    .where('status', '=', 'processing')
    .where('deleted_at', 'is', null)
    .orderBy('video_id')
    .execute();
  return rows.map(({ video_id: id }) => id);
}

/** Makes the next attempts at a video transcode it as a whole. */
export async function storeAsWhole(trx: Database, videoId: string): Promise<void> {
  await trx.updateTable('videos').set({ as_a_whole: true }).where('id', '=', videoId).execute();
}

/** Ends the import of a video, if there is one: erases its URL and headers. */
export async function endImport(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('imports')
    .set({ request: null, due_at: null, claimed_until: null, next_try_at: null })
    .where('video_id', '=', videoId)
    .execute();
}

/**
 * Closes the open attempt of a video, if there is one. Its plan and its tasks are deleted, unless it is completed: tasks can be added to a ready
 * video.
 */
export async function closeOpenAttempt(
  trx: Database,
  videoId: string,
  outcome: AttemptOutcome,
): Promise<void> {
  const isCompleted = outcome === 'completed';
  if (!isCompleted) await endTasks(trx, videoId);
  await trx
    .updateTable('attempts')
    .set({
      outcome,
      finished_at: sql`now()`,
      planned: null,
      source_sha256: null,
      ...(!isCompleted && { plan: null }),
    })
    .where('video_id', '=', videoId)
    .where('outcome', 'is', null)
    .execute();
}

/** Deletes the tasks of a video that read its source. Resolves with their number. */
export async function endTasks(trx: Database, videoId: string): Promise<number> {
  const result = await trx
    .deleteFrom('tasks')
    .where('video_id', '=', videoId)
    .where('command', 'not in', DERIVATION_COMMANDS)
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Raises the progress; it never falls. Resolves with the title if it rose. */
export async function raiseProgress(
  db: Database,
  videoId: string,
  percent: number,
): Promise<{ title: string } | undefined> {
  return db
    .updateTable('videos')
    .set({ progress: percent, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .where('status', '=', 'processing')
    .where('progress', '<', percent)
    .where('deleted_at', 'is', null)
    .returning('title')
    .executeTakeFirst();
}

/** Living videos that are due for removal, those due for longest first. */
export async function findVideosToRemove(
  db: Database,
  limit: number,
): Promise<{ workspaceId: string; videoId: string }[]> {
  return db
    .selectFrom('videos')
    .select(['workspace_id as workspaceId', 'id as videoId'])
    .where('remove_at', '<=', sql<Date>`now()`)
    .where('deleted_at', 'is', null)
    .orderBy('remove_at')
    .limit(limit)
    .execute();
}

/**
 * Turns a living video, locked, into a tombstone: deletes its ticket, import, attempts, renditions, captions, chapters, poster, artifacts
 * and figures, lets maintenance delete the reports of its viewers, and blanks every column that is not kept.
 */
export async function turnIntoTombstone(trx: Database, videoId: string, move: Move): Promise<void> {
  for (const table of [
    'artifacts',
    'captions',
    'downloads',
    'pictures',
    'auto_captions',
    'chapters',
    'posters',
    'renditions',
    'attempts',
    'clips',
    'imports',
    'upload_tickets',
    'views_daily',
  ] as const) {
    await trx.deleteFrom(table).where('video_id', '=', videoId).execute();
  }
  await discardReports(trx, videoId);
  await moveVideo(trx, videoId, move, BLANK);
}

/** Reports are kept for fewer days. */
const PAST_DAYS = 7;

/** Marks the days of a video that have reports. The next roll-up deletes those of a deleted video: there can be too many for its transaction. */
async function discardReports(trx: Database, videoId: string): Promise<void> {
  await sql`
    insert into view_changes as changed (video_id, day)
    select ${videoId}, day
    from generate_series(-${PAST_DAYS}::int, 1) as offset_days,
      lateral (select (now() at time zone 'UTC')::date + offset_days as day) as days
    where exists (select from view_sessions where view_sessions.day = days.day and video_id = ${videoId})
    order by day
    on conflict (video_id, day) do update set version = greatest(changed.version + 1, excluded.version)`.execute(
    trx,
  );
}

/**
 * The columns that a tombstone keeps. None holds something that the owner wrote. The purge reads the first line. A constraint ties the
 * second line to `status`. The others say how the video was processed.
 */
type KeptColumn =
  | ('id' | 'workspace_id' | 'status' | 'deleted_at')
  | 'error_code'
  | ('environment' | 'packaging' | 'hdr' | 'progress' | 'attempt' | 'as_a_whole' | 'playback_version')
  | ('uploaded_at' | 'ready_at' | 'failed_at' | 'source_deleted_at')
  | ('created_at' | 'updated_at' | 'remove_at');

/** The type requires a decision about every new column: it is blanked here, or is a `KeptColumn`. */
const BLANK: Record<Exclude<keyof VideoRow, KeptColumn>, unknown> & UpdateObject<Schema, 'videos'> = {
  ...BLANK_COLUMNS,
  filename: '',
  audio_only: null,
  watermark: null,
  trim: null,
  codecs: '[]',
  size: null,
  sha256: null,
  source: null,
  input_issues: '[]',
  duration: null,
  width: null,
  height: null,
  frame_rate: null,
  variants: null,
  preview_variants: null,
  target_duration: null,
  start_timestamp: null,
  storyboard: null,
  chosen_poster: null,
  chapter_count: 0,
  storage_bytes: 0,
  content_key: null,
  error_message: null,
  retried_at: sql`default`,
  delete_source_at: null,
  traceparent: null,
};

/** Deletes up to `limit` tombstones of that age whose purge has ended. Resolves with their number. */
export async function deleteTombstones(db: Database, olderThanDays: number, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('videos')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('videos as old')
        .select('old.id')
        .where('old.deleted_at', '<', sql<Date>`now() - make_interval(days => ${olderThanDays})`)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('object_purges')
                .select('video_id')
                .whereRef('object_purges.video_id', '=', 'old.id'),
            ),
          ),
        )
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
