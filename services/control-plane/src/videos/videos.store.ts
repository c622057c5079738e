import type { FailureCode } from '@framelane/contracts/failures';
import { type ExpressionBuilder, sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type { Environment, NewVideo, Schema, VideoRow, VideoStatus } from '../db/schema.ts';
import type { VideoWithTicket } from './video-record.ts';
import { MOVES, type MoveName } from './video-status.ts';

const ENVIRONMENTS: readonly Environment[] = ['live', 'test'];
const STATUSES: readonly VideoStatus[] = ['uploading', 'processing', 'ready', 'failed'];

export type VideoFilter = {
  statuses: VideoStatus[];
  createdAfter: Date | undefined;
  createdBefore: Date | undefined;
  environment: Environment | undefined;
  titleContains: string | undefined;
};

export async function insertVideo(db: Database, video: NewVideo): Promise<void> {
  await db.insertInto('videos').values(video).execute();
}

/** A living video of this workspace. */
export async function findVideo(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<VideoWithTicket | undefined> {
  const [video] = await videosById(db, workspaceId, videoId);
  return video;
}

const videosById = compileOnce((db, workspaceId: string, videoId: string) =>
  db
    .selectFrom('videos')
    .selectAll()
    .select(ticketExpiry)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', videoId)
    .where('deleted_at', 'is', null),
);

/** Any video, a tombstone included. */
export async function findVideoOrTombstone(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db.selectFrom('videos').selectAll().where('id', '=', videoId).executeTakeFirst();
}

/** A living video, its row locked until the transaction ends. Every transition begins here, so none can deadlock. */
export async function lockVideo(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db
    .selectFrom('videos')
    .selectAll()
    .where('id', '=', videoId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** The living videos of a workspace that the filter lets through. */
export async function listVideos(
  db: Database,
  workspaceId: string,
  filter: VideoFilter,
  page: PageRequest & { order: 'asc' | 'desc' },
): Promise<VideoWithTicket[]> {
  const { createdAfter, createdBefore, titleContains } = filter;
  const { order, limit } = page;
  const matching = db
    .selectFrom('videos')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .$if(createdAfter !== undefined, (query) => query.where('created_at', '>=', createdAfter as Date))
    .$if(createdBefore !== undefined, (query) => query.where('created_at', '<', createdBefore as Date))
    .$if(titleContains !== undefined, (query) =>
      query.where('title', 'ilike', `%${(titleContains as string).replace(/[\\%_]/g, '\\$&')}%`),
    );
  const ofAnyKind = keysetPage(matching, 'videos', page);
  const kinds = kindsOf(filter);
  // One walk along the index for each kind, however rare it is, instead of one past all the others.
  const listed =
    kinds === null
      ? ofAnyKind
      : db
          .selectFrom(kinds.as('kind'))
          .innerJoinLateral(
            ofAnyKind
              .where(sql<boolean>`(environment, status) = (kind.environment, kind.status)`)
              .as('of_kind'),
            (join) => join.onTrue(),
          )
          .selectAll('of_kind');
  return db
    .selectFrom(listed.as('videos'))
    .selectAll()
    .select(ticketExpiry)
    .orderBy('created_at', order)
    .orderBy('id', order)
    .limit(limit)
    .execute();
}

/** Every pair of environment and status that the filter takes, once; null when it takes all. */
function kindsOf(filter: VideoFilter) {
  if (filter.statuses.length === 0 && filter.environment === undefined) return null;
  const environments = filter.environment === undefined ? ENVIRONMENTS : [filter.environment];
  const statuses = filter.statuses.length === 0 ? STATUSES : [...new Set(filter.statuses)];
  return sql<{ environment: Environment; status: VideoStatus }>`(
    select environment, status
    from unnest(${environments}::text[]) as environment, unnest(${statuses}::text[]) as status
  )`;
}

/** A guarded move: changes the row only from a status the move may begin in. Resolves with whether it did. */
export async function moveVideo(
  db: Database,
  videoId: string,
  move: MoveName,
  values: UpdateObject<Schema, 'videos'>,
): Promise<boolean> {
  const { from, to } = MOVES[move];
  const result = await db
    .updateTable('videos')
    .set({ ...values, status: to, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .where('deleted_at', 'is', null)
    .where('status', 'in', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Moves a video to `failed` and erases its content key. */
export async function moveToFailed(
  db: Database,
  videoId: string,
  error: { code: FailureCode; message: string },
): Promise<boolean> {
  return moveVideo(db, videoId, 'fail', {
    error_code: error.code,
    error_message: error.message,
    content_key: null,
  });
}

/** Moves a failed video back to `processing` as if no attempt had gone wrong; the attempts keep their numbers. */
export async function moveToRetry(db: Database, videoId: string): Promise<boolean> {
  return moveVideo(db, videoId, 'retry', {
    error_code: null,
    error_message: null,
    failed_attempts: 0,
    progress: 0,
  });
}

/** Changes columns of a video without moving it. */
export async function updateVideo(
  db: Database,
  videoId: string,
  values: UpdateObject<Schema, 'videos'>,
): Promise<void> {
  await db
    .updateTable('videos')
    .set({ ...values, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .execute();
}

/** Begins the wait for an engine, after the delay. Resolves with that time, which is the database's. */
export async function beginWaiting(db: Database, videoId: string, delaySeconds: number): Promise<Date> {
  const due = sql<Date>`now() + make_interval(secs => ${delaySeconds})`;
  const row = await db
    .updateTable('videos')
    .set({ command_issued_at: due, waiting_since: due, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .returning('waiting_since')
    .executeTakeFirstOrThrow();
  return row.waiting_since as Date;
}

/** Raises the progress; it never falls. Resolves with whether it rose. */
export async function raiseProgress(db: Database, videoId: string, percent: number): Promise<boolean> {
  const result = await db
    .updateTable('videos')
    .set({ progress: percent, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .where('status', '=', 'processing')
    .where('progress', '<', percent)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Living videos whose time is over. */
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
 * Turns a living video, locked, into a tombstone: its tickets, attempts and renditions go, and so does everything its
 * owner wrote or sent. What is kept serves the purge. Resolves with the time of the deletion.
 */
export async function turnIntoTombstone(db: Database, videoId: string): Promise<Date> {
  for (const table of ['renditions', 'attempts', 'upload_tickets'] as const) {
    await db.deleteFrom(table).where('video_id', '=', videoId).execute();
  }
  const { deleted_at } = await db
    .updateTable('videos')
    .set({ ...BLANK, deleted_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .returning((eb) => eb.ref('deleted_at').$castTo<Date>().as('deleted_at'))
    .executeTakeFirstOrThrow();
  return deleted_at;
}

/** Every column that holds something of the owner or of the file. */
const BLANK = {
  title: '',
  filename: '',
  metadata: '{}',
  tags: [],
  passthrough: null,
  size: null,
  sha256: null,
  content_type: null,
  source: null,
  input_issues: '[]',
  duration: null,
  width: null,
  height: null,
  frame_rate: null,
  variants: null,
  target_duration: null,
  poster_bytes: null,
  storyboard: null,
  storage_bytes: 0,
  content_key: null,
  error_message: null,
} as const satisfies UpdateObject<Schema, 'videos'>;

/** Records that the objects of a deleted video are gone. */
export async function recordPurge(db: Database, videoId: string): Promise<void> {
  await db
    .updateTable('videos')
    .set({ purged_at: sql`now()` })
    .where('id', '=', videoId)
    .where('deleted_at', 'is not', null)
    .execute();
}

/** Removes up to `limit` tombstones of that age whose objects are gone. Resolves with their number. */
export async function deleteTombstones(db: Database, olderThanDays: number, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('videos')
    .where('id', 'in', tombstones(db, olderThanDays).where('purged_at', 'is not', null).limit(limit))
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Up to `limit` tombstones of that age whose purge has not ended, after the one with that id. */
export async function findUnpurged(
  db: Database,
  olderThanDays: number,
  { after, limit }: { after: string; limit: number },
): Promise<{ videoId: string; workspaceId: string }[]> {
  const rows = await tombstones(db, olderThanDays)
    .select('workspace_id')
    .where('purged_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, workspace_id }) => ({ videoId: id, workspaceId: workspace_id }));
}

function tombstones(db: Database, olderThanDays: number) {
  return db
    .selectFrom('videos')
    .select('id')
    .where('deleted_at', '<', sql<Date>`now() - make_interval(days => ${olderThanDays})`);
}

/** When the ticket of the video at hand expires. */
function ticketExpiry(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb
    .selectFrom('upload_tickets')
    .select('upload_tickets.expires_at')
    .whereRef('upload_tickets.video_id', '=', 'videos.id')
    .as('ticket_expires_at');
}
