import type { Manifest } from '@framelane/contracts/manifest';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { RenditionName } from '@framelane/contracts/renditions';
import { type Compilable, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type { PlaybackPolicy, VideoRow } from '../db/schema.ts';
import type { RenditionFacts } from './master-playlist.ts';
import type { RenditionSegments } from './media-playlist.ts';

/** Identifies one rendition. */
export type RenditionAddress = { workspaceId: string; videoId: string; rendition: RenditionName };

/** Identifies one segment, as a file of this packaging. */
export type SegmentAddress = RenditionAddress & { sequence: number; packaging: PackagingName };

/** Stores the renditions of a video. `bandwidth` is in bits per second. */
export async function insertRenditions(
  db: Database,
  videoId: string,
  renditions: readonly (Manifest['renditions'][number] & {
    bandwidth: { peak: number; average: number };
  })[],
): Promise<void> {
  const rows = renditions.map(
    ({ segments, frameRate, videoRange, bandwidth, initialization, ...rendition }) => ({
      ...rendition,
      initialization: initialization === undefined ? null : Buffer.from(initialization, 'base64'),
      video_id: videoId,
      frame_rate: frameRate,
      video_range: videoRange ?? null,
      bandwidth: bandwidth.peak,
      average_bandwidth: bandwidth.average,
      segment_durations: segments.map((segment) => segment.duration),
      segment_bytes: segments.map((segment) => segment.bytes),
    }),
  );
  await db.insertInto('renditions').values(rows).execute();
}

/** The renditions of a ready video; empty for any other video. */
export const findRenditions = compileOnce(
  (db, workspaceId: string, videoId: string): Compilable<RenditionFacts> =>
    readyRenditions(db, workspaceId, videoId).select([
      'name',
      'renditions.codecs',
      'renditions.width',
      'renditions.height',
      'renditions.frame_rate as frameRate',
      'video_range as videoRange',
      'channels',
      'language',
      'label',
      'role',
      'bandwidth',
      'average_bandwidth as averageBandwidth',
    ]),
);

/** The captions of a video, by language. */
export const findCaptions = compileOnce((db, videoId: string) =>
  db
    .selectFrom('captions')
    .select(['language', 'label', 'is_default as isDefault', 'revision'])
    .where('video_id', '=', videoId)
    .orderBy(sql`language collate "C"`),
);

/** The segments of one rendition of a ready video. */
export async function findSegments(
  db: Database,
  workspaceId: string,
  videoId: string,
  rendition: RenditionName,
): Promise<RenditionSegments | undefined> {
  const row = await readyRenditions(db, workspaceId, videoId)
    .select(['segment_durations as durations', 'target_duration as targetDuration', 'packaging'])
    .where('name', '=', rendition)
    .executeTakeFirst();
  return row?.targetDuration == null ? undefined : { ...row, targetDuration: row.targetDuration };
}

/** The initialization section of a rendition of a ready video; undefined if it has none. */
export async function findInitialization(
  db: Database,
  { workspaceId, videoId, rendition }: RenditionAddress,
): Promise<Buffer | undefined> {
  const row = await readyRenditions(db, workspaceId, videoId)
    .select('initialization')
    .where('name', '=', rendition)
    .executeTakeFirst();
  return row?.initialization ?? undefined;
}

/** The size of a stored segment or image, the attempt that encoded it, and its folder. */
export type StoredSegment = { attempt: number; folder: string; bytes: number };

/** One segment of a ready video; undefined when the video has no such segment, or has another packaging. */
export async function findSegment(
  db: Database,
  { workspaceId, videoId, rendition, sequence, packaging }: SegmentAddress,
): Promise<StoredSegment | undefined> {
  const [row] = await segmentsAt(db, workspaceId, videoId, rendition, sequence, packaging);
  return row?.bytes == null ? undefined : { attempt: row.attempt, folder: row.folder, bytes: row.bytes };
}

const segmentsAt = compileOnce(
  (
    db,
    workspaceId: string,
    videoId: string,
    rendition: RenditionName,
    sequence: number,
    packaging: PackagingName,
  ) =>
    readyRenditions(db, workspaceId, videoId)
      .innerJoin('artifacts', (join) =>
        join
          .onRef('artifacts.video_id', '=', 'renditions.video_id')
          .on('artifacts.kind', '=', 'segments')
          .onRef('artifacts.name', '=', 'renditions.name')
          .on('first_segment', '<=', sequence),
      )
      .select([
        // Segments have both.
        sql<number>`artifacts.attempt`.as('attempt'),
        sql<string>`folder`.as('folder'),
        // PostgreSQL counts array elements from 1, and returns null beyond the last one.
        sql<number | null>`segment_bytes[${sequence}::int + 1]`.as('bytes'),
      ])
      .where('renditions.name', '=', rendition)
      .where('packaging', '=', packaging)
      .orderBy('first_segment', 'desc')
      .limit(1),
);

/** The playback policy of a video that can be played, and the version of its playlists. A preview has playlists of its own. */
export async function findPlayback(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<{ policy: PlaybackPolicy; version: number; isPreview: boolean } | undefined> {
  const [playback] = await playbacks(db, workspaceId, videoId);
  return playback;
}

const playbacks = compileOnce((db, workspaceId: string, videoId: string) =>
  playableVideo(db, workspaceId, videoId).select([
    'playback_policy as policy',
    'playback_version as version',
    sql<boolean>`status <> 'ready'`.as('isPreview'),
  ]),
);

/**
 * Ends the caching of a video's playlists. Call it in the transaction that changes what a playlist contains. Resolves with the
 * new version.
 */
export async function incrementPlaybackVersion(trx: Database, videoId: string): Promise<number> {
  const { playback_version } = await trx
    .updateTable('videos')
    .set({ playback_version: sql`playback_version + 1`, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .returning('playback_version')
    .executeTakeFirstOrThrow();
  return playback_version;
}

/** The attempt whose segments are played. */
export async function findPlayedAttempt(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<number | undefined> {
  const row = await playableVideo(db, workspaceId, videoId).select('videos.attempt').executeTakeFirst();
  return row?.attempt;
}

/** The sealed content key of a video that can be played. */
export async function findContentKey(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<string | undefined> {
  const row = await playableVideo(db, workspaceId, videoId).select('content_key').executeTakeFirst();
  return row?.content_key ?? undefined;
}

/** An image that an attempt has stored of a ready video. */
export async function findImage(
  db: Database,
  workspaceId: string,
  videoId: string,
  kind: 'poster' | 'picked_poster' | 'storyboard',
): Promise<StoredSegment | undefined> {
  return readyVideo(db, workspaceId, videoId)
    .innerJoin('artifacts', 'artifacts.video_id', 'videos.id')
    .select(['bytes', sql<number>`artifacts.attempt`.as('attempt'), sql<string>`folder`.as('folder')])
    .where('kind', '=', kind)
    .executeTakeFirst();
}

/** The layout of the storyboard of a ready video. */
export async function findStoryboard(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<Pick<VideoRow, 'storyboard' | 'duration'> | undefined> {
  return readyVideo(db, workspaceId, videoId).select(['storyboard', 'duration']).executeTakeFirst();
}

/** The poster that a client has set for a video that can be played. */
export async function findChosenPoster(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<Buffer | undefined> {
  const row = await playableVideo(db, workspaceId, videoId)
    .innerJoin('posters', 'posters.video_id', 'videos.id')
    .select('image')
    .executeTakeFirst();
  return row?.image;
}

function readyVideo(db: Database, workspaceId: string, videoId: string) {
  return livingVideo(db, workspaceId, videoId).where('videos.status', '=', 'ready');
}

/** A ready video, or one that can be played while engines transcode it. */
function playableVideo(db: Database, workspaceId: string, videoId: string) {
  return livingVideo(db, workspaceId, videoId).where((eb) =>
    eb.or([eb('videos.status', '=', 'ready'), eb('preview_variants', 'is not', null)]),
  );
}

/** Ready videos with their renditions. */
export function readyRenditions(db: Database, workspaceId: string, videoId: string) {
  return readyVideo(db, workspaceId, videoId).innerJoin('renditions', 'renditions.video_id', 'videos.id');
}
