import type { FailureCode } from '@framelane/contracts/failures';
import type { Manifest } from '@framelane/contracts/manifest';
import type { VideoRendition } from '@framelane/contracts/renditions';
import { type ExpressionBuilder, sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import { ENVIRONMENTS } from '../db/environments.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type {
  AttemptOutcome,
  AttemptRow,
  Environment,
  PlaybackPolicy,
  Schema,
  VideoRow,
  VideoStatus,
} from '../db/schema.ts';
import { FAILED_SOURCE_DAYS } from './keep-source.ts';
import type { TaskCounts } from './timeline.ts';
import type { Move } from './video-moves.ts';
import { patchedColumns, type VideoPatch } from './video-patch.ts';
import type { VideoWithFile } from './video-record.ts';

const STATUSES: readonly VideoStatus[] = ['uploading', 'processing', 'ready', 'failed'];

type VideoPageRequest = PageRequest & { order: 'asc' | 'desc' };

export type VideoFilter = {
  statuses: VideoStatus[];
  createdAfter: Date | undefined;
  createdBefore: Date | undefined;
  environment: Environment | undefined;
  titleContains: string | undefined;
  tag: string | undefined;
};

/** `among`: the ids of all videos that can match; undefined if they are unknown. */
type NarrowedFilter = VideoFilter & { among: string[] | undefined };

/** A tag of at most this many videos is rare. */
const RARE_TAG_VIDEOS = 500;

/** A video that waits for its upload; it is removed after `removeInSeconds`, unless that is null. */
export type NewVideo = Pick<
  VideoRow,
  'id' | 'environment' | 'filename' | 'title' | 'metadata' | 'tags' | 'passthrough'
> & {
  workspaceId: string;
  playbackPolicy: PlaybackPolicy;
  allowedOrigins: string[] | null;
  keepSourceDays: number | null;
  removeInSeconds: number | null;
};

export async function insertVideo(db: Database, video: NewVideo): Promise<void> {
  const {
    workspaceId,
    playbackPolicy,
    allowedOrigins,
    keepSourceDays,
    removeInSeconds,
    metadata,
    ...columns
  } = video;
  await db
    .insertInto('videos')
    .values({
      ...columns,
      workspace_id: workspaceId,
      status: 'uploading',
      metadata: JSON.stringify(metadata),
      playback_policy: playbackPolicy,
      allowed_origins: allowedOrigins,
      keep_source_days: keepSourceDays,
      remove_at: removeInSeconds === null ? null : inSeconds(removeInSeconds),
    })
    .execute();
}

/** A living video of this workspace. */
export async function findVideo(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<VideoWithFile | undefined> {
  const [video] = await videosById(db, workspaceId, videoId);
  return video;
}

const videosById = compileOnce((db, workspaceId: string, videoId: string) =>
  db
    .selectFrom(
      db
        .selectFrom('videos')
        .selectAll()
        .select(rowVersion)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', videoId)
        .where('deleted_at', 'is', null)
        .as('videos'),
    )
    .selectAll()
    .select([uploadExpiry, importOf, audioOf, captionsOf, versionOf]),
);

/** Any video, a tombstone included. */
export async function findVideoOrTombstone(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db.selectFrom('videos').selectAll().where('id', '=', videoId).executeTakeFirst();
}

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

/** The living videos of a workspace that match the filter. */
export async function listVideos(
  db: Database,
  workspaceId: string,
  filter: VideoFilter,
  page: VideoPageRequest,
): Promise<VideoWithFile[]> {
  return pageOfVideos(db, workspaceId, await narrowed(db, workspaceId, filter), page)
    .selectAll()
    .select([uploadExpiry, importOf, audioOf, captionsOf, versionOf])
    .execute();
}

/** The versions of the videos that `listVideos` lists, in its order. Costs a fraction of it. */
export async function listVideoVersions(
  db: Database,
  workspaceId: string,
  filter: VideoFilter,
  page: VideoPageRequest,
): Promise<string[]> {
  const rows = await pageOfVideos(db, workspaceId, await narrowed(db, workspaceId, filter), page)
    .select(versionOf)
    .execute();
  return rows.map(({ version }) => version);
}

/**
 * The filter, with the ids of all videos that have the tag if it is rare. PostgreSQL overestimates their number, and would search
 * all videos of the workspace in the order of the list.
 */
async function narrowed(db: Database, workspaceId: string, filter: VideoFilter): Promise<NarrowedFilter> {
  const { tag } = filter;
  if (tag === undefined) return { ...filter, among: undefined };
  const rows = await fewWithTag(db, workspaceId, tag).execute();
  return { ...filter, among: rows.length > RARE_TAG_VIDEOS ? undefined : rows.map(({ id }) => id) };
}

/**
 * The videos of a workspace with a tag, at most one more than a rare tag has. The tag may be frequent in other workspaces. Because
 * of the order, PostgreSQL can then read the list of this workspace instead of all videos with the tag.
 */
export function fewWithTag(db: Database, workspaceId: string, tag: string) {
  return db
    .selectFrom('videos')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(hasTag(tag))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(RARE_TAG_VIDEOS + 1);
}

function hasTag(tag: string) {
  return sql<boolean>`tags @> array[${tag}]::text[]`;
}

function pageOfVideos(db: Database, workspaceId: string, filter: NarrowedFilter, page: VideoPageRequest) {
  const { createdAfter, createdBefore, titleContains, tag, among } = filter;
  const { order, limit } = page;
  const matching = db
    .selectFrom('videos')
    .selectAll()
    .select(rowVersion)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .$if(createdAfter !== undefined, (query) => query.where('created_at', '>=', createdAfter as Date))
    .$if(createdBefore !== undefined, (query) => query.where('created_at', '<', createdBefore as Date))
    .$if(titleContains !== undefined, (query) =>
      query.where('title', 'ilike', `%${(titleContains as string).replace(/[\\%_]/g, '\\$&')}%`),
    )
    .$if(tag !== undefined, (query) => query.where(hasTag(tag as string)))
    .$if(among !== undefined, (query) => query.where(sql<boolean>`id = any(${among}::text[])`));
  const ofAnyKind = keysetPage(matching, 'videos', page);
  const kinds = kindsOf(filter);
  // One index scan for each kind: a single scan would read past the rows of all other kinds.
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
  return keysetPage(db.selectFrom(listed.as('videos')), 'videos', { order, limit, after: undefined });
}

/** Every pair of environment and status that the filter matches, once; null when it matches all. */
function kindsOf(filter: VideoFilter) {
  if (filter.statuses.length === 0 && filter.environment === undefined) return null;
  const environments = filter.environment === undefined ? ENVIRONMENTS : [filter.environment];
  const statuses = filter.statuses.length === 0 ? STATUSES : [...new Set(filter.statuses)];
  return sql<{ environment: Environment; status: VideoStatus }>`(
    select environment, status
    from unnest(${environments}::text[]) as environment, unnest(${statuses}::text[]) as status
  )`;
}

/** A file that an upload has stored. */
export type StoredFile = { sourceKey: string; bytes: number; sha256: string | null };

/** Moves a video and stores its file. */
export async function storeFile(trx: Database, videoId: string, move: Move, file: StoredFile): Promise<void> {
  await moveVideo(trx, videoId, move, {
    size: file.bytes,
    sha256: file.sha256,
    source_key: file.sourceKey,
    // Captions can be stored before the file.
    storage_bytes: sql`storage_bytes + ${file.bytes}::bigint`,
    uploaded_at: sql`now()`,
  });
}

/** The properties of the stored renditions that the master playlist and the accounting need. */
export type StoredRenditions = {
  variants: VideoRendition[];
  targetDuration: number;
  bytes: number;
  /** The folder of the images within that of the attempt. */
  imageFolder: string;
};

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
  const { source, duration, inputIssues, poster, storyboard } = manifest;
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
    poster_bytes: poster?.bytes ?? null,
    storyboard: storyboard && JSON.stringify(storyboard),
    start_timestamp: manifest.startTimestamp,
    image_folder: renditions.imageFolder,
    storage_bytes: sql`storage_bytes + ${renditions.bytes}::bigint`,
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

/** Moves a video and stores how many of its attempts have failed. */
export async function storeFailedAttempts(
  trx: Database,
  videoId: string,
  move: Move,
  failedAttempts: number,
): Promise<void> {
  await moveVideo(trx, videoId, move, { failed_attempts: failedAttempts });
}

/** Moves a failed video and clears its failure and its failed attempts; the attempts keep their numbers. */
export async function resetFailure(trx: Database, videoId: string, move: Move): Promise<void> {
  await moveVideo(trx, videoId, move, {
    error_code: null,
    error_message: null,
    failed_at: null,
    failed_attempts: 0,
    progress: 0,
    delete_source_at: null,
    retried_at: sql`(retried_at || now()::timestamptz(3))[greatest(1, cardinality(retried_at) + 2 - ${STORED_RETRIES}::int):]`,
  });
}

/** Every retry is a request of a client, so their number has no other limit. */
const STORED_RETRIES = 100;

/**
 * Moves a living video. Throws if it is in a status that the move does not begin in. Also clears the due command and the preview:
 * they belong to the previous status or attempt.
 */
async function moveVideo(
  trx: Database,
  videoId: string,
  { from, to }: Move,
  values: UpdateObject<Schema, 'videos'>,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('videos')
    .set({
      ...{ ...values, updated_at: sql`now()` },
      ...{ command_due_at: null, command_claimed_until: null, preview_variants: null },
      ...(to === 'tombstone' ? { deleted_at: sql`now()` } : { status: to }),
    })
    .where('id', '=', videoId)
    .where('status', 'in', from)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n)
    throw new Error(`Video ${videoId} is not ${from.join(' or ')}: no move to ${to}`);
}

/** Makes a transcode command due after the delay; the wait for an engine begins then. */
export async function makeCommandDue(trx: Database, videoId: string, delaySeconds: number): Promise<void> {
  const due = inSeconds(delaySeconds);
  await trx
    .updateTable('videos')
    .set({ command_due_at: due, waiting_since: due })
    .where('id', '=', videoId)
    .execute();
}

/** Moves a video and stores the number and the sealed content key of its new attempt. */
export async function storeAttempt(
  trx: Database,
  videoId: string,
  move: Move,
  attempt: number,
  sealedContentKey: string,
): Promise<void> {
  await moveVideo(trx, videoId, move, { attempt, content_key: sealedContentKey });
}

/** Makes the next attempts at a video transcode it in one run. */
export async function storeInOneRun(trx: Database, videoId: string): Promise<void> {
  await trx.updateTable('videos').set({ in_one_run: true }).where('id', '=', videoId).execute();
}

/** Ends the import of a video, if there is one: erases its URL and headers. */
export async function endImport(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('imports')
    .set({ request: null, due_at: null, claimed_until: null, next_try_at: null })
    .where('video_id', '=', videoId)
    .execute();
}

/** The folders in which tasks stored a ready video; empty if it was transcoded in one run. */
export async function findFolders(db: Database, videoId: string): Promise<Set<string>> {
  const { rows } = await sql<{ folder: string }>`
    select distinct unnest(part_folders || videos.image_folder) as folder
    from renditions join videos on videos.id = renditions.video_id
    where video_id = ${videoId}`.execute(db);
  return new Set(rows.map(({ folder }) => folder).filter((folder) => folder !== ''));
}

/** The latest attempts at a video, by increasing number. */
export async function listAttempts(db: Database, videoId: string, limit: number): Promise<AttemptRow[]> {
  const latest = await db
    .selectFrom('attempts')
    .selectAll()
    .where('video_id', '=', videoId)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return latest.reverse();
}

/** Counts the tasks of the open attempt at a video; undefined if it is not divided into tasks. */
export async function countTasks(db: Database, videoId: string): Promise<TaskCounts | undefined> {
  const counts = await db
    .selectFrom('tasks')
    .select([
      sql<number>`count(*)::int`.as('total'),
      sql<number>`count(result)::int`.as('completed'),
      sql<number>`count(lease_expires_at)::int`.as('running'),
    ])
    .where('video_id', '=', videoId)
    .executeTakeFirstOrThrow();
  return counts.total > 0 ? counts : undefined;
}

/** Closes the open attempt of a video, if there is one. Its plan and its tasks are deleted. */
export async function closeOpenAttempt(
  trx: Database,
  videoId: string,
  outcome: AttemptOutcome,
): Promise<void> {
  await trx.deleteFrom('tasks').where('video_id', '=', videoId).execute();
  await trx
    .updateTable('attempts')
    .set({ outcome, finished_at: sql`now()`, plan: null, source_sha256: null })
    .where('video_id', '=', videoId)
    .where('outcome', 'is', null)
    .execute();
}

/** Changes the fields that the owner may set. Throws 400 `validation_failed` when the metadata would become too large. */
export async function patchVideo(trx: Database, video: VideoRow, patch: VideoPatch): Promise<void> {
  const columns = patchedColumns(video, patch);
  if (Object.keys(columns).length === 0) return;
  await trx
    .updateTable('videos')
    .set({ ...columns, updated_at: sql`now()` })
    .where('id', '=', video.id)
    .execute();
}

/** Sets when the source of a ready or failed video is to be deleted; never, if it is always kept. */
export async function scheduleSourceDeletion(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('videos')
    .set({
      delete_source_at: sql<Date | null>`case
        when keep_source_days is null then null
        when status = 'ready' then ready_at + make_interval(hours => 24 * keep_source_days)
        else failed_at + make_interval(hours => 24 * greatest(keep_source_days, ${FAILED_SOURCE_DAYS})) end`,
    })
    .where('id', '=', videoId)
    .where(hasDeletableSource)
    // Most videos keep their source.
    .where(({ or, eb }) =>
      or([eb('keep_source_days', 'is not', null), eb('delete_source_at', 'is not', null)]),
    )
    .execute();
}

/**
 * Marks the source of a ready or failed video as deleted, `when` it is due or at once. Resolves with whether it did. The video
 * cannot be retried from then on, so nothing uses the source again.
 */
export async function markSourceDeleted(
  trx: Database,
  videoId: string,
  when: 'due' | 'now',
): Promise<boolean> {
  const result = await trx
    .updateTable('videos')
    .set({
      source_deleted_at: sql`now()`,
      delete_source_at: null,
      storage_bytes: sql`greatest(storage_bytes - size, 0)`,
      updated_at: sql`now()`,
    })
    .where('id', '=', videoId)
    .where(hasDeletableSource)
    // Rounded like the stored time, so that a source that is never kept is due in the transaction that makes its video
    // ready.
    .$if(when === 'due', (query) => query.where('delete_source_at', '<=', sql<Date>`now()::timestamptz(3)`))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Videos whose source is due for deletion, those due for longest first. */
export async function findDueSources(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('videos')
    .select('id')
    .where('delete_source_at', '<=', sql<Date>`now()`)
    .where(hasDeletableSource)
    .orderBy('delete_source_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** No attempt needs the source of a ready or failed video. */
function hasDeletableSource({ and, eb }: ExpressionBuilder<Schema, 'videos'>) {
  return and([
    eb('status', 'in', ['ready', 'failed']),
    eb('source_key', 'is not', null),
    eb('source_deleted_at', 'is', null),
    eb('deleted_at', 'is', null),
  ]);
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
 * Turns a living video, locked, into a tombstone: deletes its ticket, import, attempts, renditions, captions and poster, and blanks
 * every column that is not kept.
 */
export async function turnIntoTombstone(trx: Database, videoId: string, move: Move): Promise<void> {
  for (const table of [
    'captions',
    'posters',
    'renditions',
    'attempts',
    'imports',
    'upload_tickets',
  ] as const) {
    await trx.deleteFrom(table).where('video_id', '=', videoId).execute();
  }
  await moveVideo(trx, videoId, move, BLANK);
}

/**
 * The columns that a tombstone keeps. None holds something that the owner wrote. The purge reads the first line. Constraints tie the
 * second line to `status` and `uploaded_at`. The others say how the video was processed.
 */
type KeptColumn =
  | ('id' | 'workspace_id' | 'status' | 'deleted_at')
  | ('error_code' | 'source_key')
  | ('environment' | 'progress' | 'attempt' | 'failed_attempts' | 'in_one_run' | 'playback_version')
  | ('uploaded_at' | 'ready_at' | 'failed_at' | 'source_deleted_at' | 'command_published_at')
  | ('created_at' | 'updated_at' | 'waiting_since' | 'remove_at');

/** The type requires a decision about every new column: it is blanked here, or is a `KeptColumn`. */
const BLANK: Record<Exclude<keyof VideoRow, KeptColumn>, unknown> & UpdateObject<Schema, 'videos'> = {
  title: '',
  filename: '',
  metadata: '{}',
  tags: [],
  passthrough: null,
  playback_policy: sql`default`,
  allowed_origins: null,
  keep_source_days: null,
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
  start_timestamp: sql`default`,
  poster_bytes: null,
  storyboard: null,
  chosen_poster: null,
  image_folder: sql`default`,
  storage_bytes: 0,
  content_key: null,
  command_due_at: null,
  command_claimed_until: null,
  error_message: null,
  retried_at: sql`default`,
  delete_source_at: null,
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

/** The transaction that wrote this version of the row. Unlike a time, two changes never share it (ADR 48). */
const rowVersion = sql<string>`videos.xmin`.as('row_version');

/**
 * The version of the record of the video in the outer query. It changes when any row that the record shows changes, in any
 * transaction.
 */
const versionOf = sql<string>`concat_ws(' ', videos.id, videos.row_version,
  (select xmin from imports where video_id = videos.id),
  (select xmin from upload_tickets where video_id = videos.id),
  array(select xmin from renditions where video_id = videos.id order by name),
  array(select xmin from captions where video_id = videos.id order by language))`.as('version');

/** When the import or the ticket of the video in the outer query expires. */
function uploadExpiry(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb.fn
    .coalesce(
      eb.selectFrom('imports').select('imports.deadline').whereRef('imports.video_id', '=', 'videos.id'),
      eb
        .selectFrom('upload_tickets')
        .select('upload_tickets.expires_at')
        .whereRef('upload_tickets.video_id', '=', 'videos.id'),
    )
    .as('upload_expires_at');
}

/** What the record shows of the import of the video in the outer query. */
function importOf(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb
    .selectFrom('imports')
    .select(
      sql<
        VideoWithFile['import']
      >`json_build_object('url', shown_url, 'bytes', bytes, 'totalBytes', total_bytes,
        'tries', tries, 'nextTryAt', next_try_at, 'failure', failure)`.as('import'),
    )
    .whereRef('imports.video_id', '=', 'videos.id')
    .as('import');
}

/** The audio renditions of the video in the outer query; null without any. */
function audioOf(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb
    .selectFrom('renditions')
    .select(
      sql<
        VideoWithFile['audio']
      >`json_agg(json_build_object('name', name, 'label', label, 'language', language, 'role', role,
        'channels', channels))`.as('audio'),
    )
    .whereRef('renditions.video_id', '=', 'videos.id')
    .where('width', 'is', null)
    .as('audio');
}

/** The captions of the video in the outer query, by language. */
function captionsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoWithFile['captions']
  >`(select coalesce(json_agg(json_build_object('language', language, 'label', label,
    'default', is_default, 'origin', origin, 'cues', cue_count, 'bytes', bytes, 'updatedAt', updated_at)
    order by language collate "C"), '[]') from captions where video_id = videos.id)`.as('captions');
}
