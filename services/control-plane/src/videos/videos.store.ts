import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { components } from '@framelane/openapi/types';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import { type AliasedExpression, type ExpressionBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import { ENVIRONMENTS } from '../db/environments.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { livingVideo } from '../db/living-video.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type {
  AlternativeCodecState,
  AttemptRow,
  Environment,
  Schema,
  VideoRow,
  VideoStatus,
} from '../db/schema.ts';
import type { TaskCounts } from './timeline.ts';
import { conditionOf, hasTag, type OwnFields, toColumns, type VideoFilter } from './video-columns.store.ts';
import { SINGLE_ARTIFACTS, type VideoDetails } from './video-record.ts';

const STATUSES: readonly VideoStatus[] = ['uploading', 'processing', 'ready', 'failed'];

type VideoPageRequest = PageRequest & { order: 'asc' | 'desc' };

/** `among`: the ids of all videos that can match; undefined if they are unknown. */
type NarrowedFilter = VideoFilter & { among: string[] | undefined };

/** A tag of at most this many videos is rare. */
const RARE_TAG_VIDEOS = 500;

/** The most videos that a count reads, whatever the workspace has. */
const COUNTED_VIDEOS = 10_000;

/** A video that waits for its upload; it is removed after `removeInSeconds`, unless that is null. */
export type NewVideo = Pick<VideoRow, 'id' | 'environment' | 'filename'> &
  Partial<OwnFields & Pick<VideoRow, 'packaging' | 'hdr'>> & {
    title: string;
    workspaceId: string;
    removeInSeconds: number | null;
    audioOnly?: boolean | undefined;
    watermark?: components['schemas']['VideoWatermark'] | undefined;
    trim?: components['schemas']['Trim'] | undefined;
    /** Beside H.264. */
    codecs?: readonly AlternativeCodec[] | undefined;
    /** `processing` for a clip, which waits for no file. */
    status?: 'uploading' | 'processing';
  };

export async function insertVideo(db: Database, video: NewVideo): Promise<void> {
  const {
    id,
    environment,
    filename,
    title,
    workspaceId,
    removeInSeconds,
    audioOnly,
    status,
    watermark,
    trim,
    packaging,
    hdr,
    codecs = [],
    ...own
  } = video;
  await db
    .insertInto('videos')
    .values({
      ...toColumns(own),
      id,
      environment,
      filename,
      title,
      workspace_id: workspaceId,
      packaging,
      hdr,
      codecs: JSON.stringify(codecs.map(preparing)),
      audio_only: audioOnly ?? null,
      watermark: watermark === undefined ? null : JSON.stringify(watermark),
      trim: trim === undefined ? null : JSON.stringify(trim),
      status: status ?? 'uploading',
      remove_at: removeInSeconds === null ? null : inSeconds(removeInSeconds),
      traceparent: activeTraceparent() ?? null,
    })
    .execute();
}

function preparing(codec: AlternativeCodec): AlternativeCodecState {
  return { codec, status: 'preparing', error: null };
}

/** What a record needs besides the row and its version. */
const DETAILS = [
  uploadExpiry,
  importOf,
  audioOf,
  videoRenditionsOf,
  captionsOf,
  autoCaptionsOf,
  downloadsOf,
  clipOf,
  storedOf,
] as const;

/** A living video of this workspace. */
export async function findVideo(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<VideoDetails | undefined> {
  const [video] = await videosById(db, workspaceId, videoId);
  return video;
}

const videosById = compileOnce((db, workspaceId: string, videoId: string) =>
  db
    .selectFrom(livingVideo(db, workspaceId, videoId).selectAll().select(rowVersion).as('videos'))
    .selectAll()
    .select(DETAILS)
    .select(versionOf),
);

/** Any video, a tombstone included. */
export async function findVideoOrTombstone(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db.selectFrom('videos').selectAll().where('id', '=', videoId).executeTakeFirst();
}

/** The living videos of a workspace that match the filter. */
export async function listVideos(
  db: Database,
  workspaceId: string,
  filter: VideoFilter,
  page: VideoPageRequest,
): Promise<VideoDetails[]> {
  return pageOfVideos(db, workspaceId, await narrowed(db, workspaceId, filter), page)
    .selectAll()
    .select(DETAILS)
    .select(versionOf)
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
 * How many living videos of a workspace match the filter. Bounded: it reads the newest videos that match the part of the filter that indexes
 * answer, and looks for the tag and the title only in these. If there are more, the count is the least that it can be.
 */
export async function countVideos(
  db: Database,
  workspaceId: string,
  filter: VideoFilter,
): Promise<{ count: number; exact: boolean }> {
  const { read, matching } = await countedVideos(
    db,
    workspaceId,
    await narrowed(db, workspaceId, filter),
  ).executeTakeFirstOrThrow();
  return { count: Math.min(matching, COUNTED_VIDEOS), exact: read <= COUNTED_VIDEOS };
}

/** The query of a count: how many videos it has read, up to one more than it may count, and how many of them match. */
export function countedVideos(db: Database, workspaceId: string, filter: NarrowedFilter) {
  const { tag, titleContains = [], ...indexed } = filter;
  const others = { titleContains, ...(tag !== undefined && { tag }) };
  const page = { order: 'desc', after: undefined, limit: COUNTED_VIDEOS } as const;
  // Only a search has to be in the newest ones. Sorting them costs more than reading them.
  const candidates =
    tag === undefined && titleContains.length === 0
      ? db.selectFrom(pagesOfKinds(db, workspaceId, indexed, page)).limit(COUNTED_VIDEOS + 1)
      : pageOfVideos(db, workspaceId, indexed, page);
  return db
    .selectFrom(candidates.selectAll().as('videos'))
    .select((eb) => [
      sql<number>`count(*)::int`.as('read'),
      sql<number>`count(*) filter (where ${conditionOf(eb, others)})::int`.as('matching'),
    ]);
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
 * The newest videos of a workspace with a tag: enough of them to decide whether the tag is rare. If the tag is frequent in other
 * workspaces, PostgreSQL can read the list of this workspace in this order, instead of all videos with the tag.
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

function pageOfVideos(db: Database, workspaceId: string, filter: NarrowedFilter, page: VideoPageRequest) {
  const { order, limit } = page;
  const listed = pagesOfKinds(db, workspaceId, filter, page);
  return keysetPage(db.selectFrom(listed), 'videos', { order, limit, after: undefined });
}

/** The page of each kind of video that the filter matches, one after the other. */
function pagesOfKinds(
  db: Database,
  workspaceId: string,
  filter: NarrowedFilter,
  page: VideoPageRequest,
): AliasedExpression<VideoRow & { row_version: string }, 'videos'> {
  const { among, ...wanted } = filter;
  const matching = db
    .selectFrom('videos')
    .selectAll()
    .select(rowVersion)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where((eb) => conditionOf(eb, wanted))
    .$if(among !== undefined, (query) => query.where(sql<boolean>`id = any(${among}::text[])`));
  const ofAnyKind = keysetPage(matching, 'videos', page);
  const kinds = kindsOf(filter);
  // One index scan for each kind: a single scan would read past the rows of all other kinds.
  if (kinds === null) return ofAnyKind.as('videos');
  return db
    .selectFrom(kinds.as('kind'))
    .innerJoinLateral(
      ofAnyKind.where(sql<boolean>`(environment, status) = (kind.environment, kind.status)`).as('of_kind'),
      (join) => join.onTrue(),
    )
    .selectAll('of_kind')
    .as('videos');
}

/** Every pair of environment and status that the filter matches, once; null when it matches all. */
function kindsOf({ environment, statuses = [] }: VideoFilter) {
  if (statuses.length === 0 && environment === undefined) return null;
  const environments = environment === undefined ? ENVIRONMENTS : [environment];
  const kinds = statuses.length === 0 ? STATUSES : [...new Set(statuses)];
  return sql<{ environment: Environment; status: VideoStatus }>`(
    select environment, status
    from unnest(${environments}::text[]) as environment, unnest(${kinds}::text[]) as status
  )`;
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
    .where('number', '>', PLANNING_TASK)
    .executeTakeFirstOrThrow();
  return counts.total > 0 ? counts : undefined;
}

/** Changes the fields that the owner may set; absent fields stay. */
export async function patchVideo(trx: Database, videoId: string, changes: Partial<OwnFields>): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await trx
    .updateTable('videos')
    .set({ ...toColumns(changes), updated_at: sql`now()` })
    .where('id', '=', videoId)
    .execute();
}

/** The transaction that wrote this version of the row. Unlike a time, two changes never share it (ADR 48). */
const rowVersion = sql<string>`videos.xmin`.as('row_version');

/** The artifacts of the video in the outer query that its record shows. */
const ofSingleArtifacts = sql`video_id = videos.id and kind in (${sql.join(SINGLE_ARTIFACTS.map((kind) => sql.lit(kind)))})`;

/**
 * The version of the record of the video in the outer query. It changes when any row that the record shows changes, in any
 * transaction.
 */
const versionOf = sql<string>`concat_ws(' ', videos.id, videos.row_version,
  (select xmin from imports where video_id = videos.id),
  (select xmin from upload_tickets where video_id = videos.id),
  array(select xmin from renditions where video_id = videos.id order by name),
  array(select xmin from captions where video_id = videos.id order by language),
  (select count(*) from clips join videos parent on parent.id = parent_id and parent.deleted_at is null where clips.video_id = videos.id),
  array(select xmin from downloads where video_id = videos.id order by name),
  array(select xmin from auto_captions where video_id = videos.id order by requested),
  array(select xmin from artifacts where ${ofSingleArtifacts} order by kind))`.as('version');

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
        VideoDetails['import']
      >`json_build_object('url', shown_url, 'bytes', coalesce(videos.size, bytes), 'totalBytes', total_bytes,
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
        VideoDetails['audio']
      >`json_agg(json_build_object('name', name, 'label', label, 'language', language, 'role', role,
        'channels', channels))`.as('audio'),
    )
    .whereRef('renditions.video_id', '=', 'videos.id')
    .where('width', 'is', null)
    .as('audio');
}

/** What the record shows of the video renditions of the video in the outer query. I-frames have no rate. */
function videoRenditionsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoDetails['video_renditions']
  >`(select coalesce(json_agg(json_build_object('name', name, 'codecs', renditions.codecs, 'width', renditions.width,
    'height', renditions.height, 'frameRate', renditions.frame_rate, 'videoRange', coalesce(video_range, 'SDR'), 'bandwidth', bandwidth,
    'averageBandwidth', average_bandwidth)), '[]') from renditions
    where renditions.video_id = videos.id and renditions.frame_rate is not null)`.as('video_renditions');
}

/** The captions of the video in the outer query, by language. */
function captionsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoDetails['captions']
  >`(select coalesce(json_agg(json_build_object('language', language, 'label', label,
    'default', is_default, 'origin', origin, 'cues', cue_count, 'bytes', bytes, 'updatedAt', updated_at)
    order by language collate "C"), '[]') from captions
    join artifacts on artifacts.video_id = captions.video_id and kind = 'captions' and name = language
    where captions.video_id = videos.id)`.as('captions');
}

/** What the record shows of the captions by a machine of the video in the outer query. */
function autoCaptionsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoDetails['autoCaptions']
  >`(select coalesce(json_agg(json_build_object('requested', requested, 'language', language, 'status', auto_captions.status,
    'error_code', auto_captions.error_code, 'error_message', auto_captions.error_message,
    'created_at', auto_captions.created_at, 'ready_at', auto_captions.ready_at)
    order by auto_captions.created_at, requested collate "C"), '[]') from auto_captions
    where auto_captions.video_id = videos.id)`.as('autoCaptions');
}

/** What the record shows of the downloads of the video in the outer query. */
function downloadsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoDetails['downloads']
  >`(select coalesce(json_agg(json_build_object('name', downloads.name, 'status', downloads.status,
    'error_code', downloads.error_code, 'error_message', downloads.error_message, 'created_at', downloads.created_at,
    'ready_at', downloads.ready_at, 'bytes', bytes)
    order by downloads.created_at, downloads.name collate "C"), '[]') from downloads
    left join artifacts on artifacts.video_id = downloads.video_id and kind = 'download' and artifacts.name = downloads.name
    where downloads.video_id = videos.id)`.as('downloads');
}

/** What the record shows of the parent of the clip in the outer query; null for another video. */
function clipOf(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb
    .selectFrom('clips')
    .select(
      sql<VideoDetails['clip_of']>`json_build_object('videoId', parent_id, 'start', starts_at, 'end', ends_at,
        'exists', exists (select from videos parent where parent.id = parent_id and parent.deleted_at is null))`.as(
        'clip_of',
      ),
    )
    .whereRef('clips.video_id', '=', 'videos.id')
    .as('clip_of');
}

/** The bytes of the artifacts of the video in the outer query that its record shows, by kind. */
function storedOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    VideoDetails['stored']
  >`(select coalesce(json_object_agg(kind, bytes), '{}') from artifacts where ${ofSingleArtifacts})`.as(
    'stored',
  );
}
