import { AWAITED_RENDITIONS, type RenditionName } from '@framelane/contracts/renditions';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ClipRow, RenditionRow, VideoRow } from '../db/schema.ts';

/** A rendition of a video that a clip is made of. */
export type ParentRendition = Pick<
  RenditionRow,
  'name' | 'codecs' | 'language' | 'label' | 'role' | 'initialization'
> & {
  segmentDurations: number[];
  segmentBytes: number[];
  places: { firstSegment: number; attempt: number; folder: string }[];
};

/** A video that is ready; undefined if there is none with this id. */
export async function findReadyVideo(db: Database, videoId: string): Promise<VideoRow | undefined> {
  return db
    .selectFrom('videos')
    .selectAll()
    .where('id', '=', videoId)
    .where('status', '=', 'ready')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The renditions of a video that a clip takes over, video lowest first. */
export async function findParentRenditions(db: Database, videoId: string): Promise<ParentRendition[]> {
  const rows = await db
    .selectFrom('renditions')
    .select([
      'name',
      'codecs',
      'language',
      'label',
      'role',
      'initialization',
      'segment_durations as segmentDurations',
      'segment_bytes as segmentBytes',
      sql<ParentRendition['places']>`(
        select json_agg(json_build_object('firstSegment', first_segment, 'attempt', attempt, 'folder', folder) order by first_segment)
        from artifacts where artifacts.video_id = renditions.video_id and kind = 'segments' and artifacts.name = renditions.name
      )`.as('places'),
    ])
    .where('video_id', '=', videoId)
    .where('name', 'in', AWAITED_RENDITIONS)
    .orderBy(sql`width nulls last, name collate "C"`)
    .execute();
  return rows as (ParentRendition & { name: RenditionName })[];
}

/** The place of the poster of a video that an engine has made. */
export async function findPoster(
  db: Database,
  videoId: string,
): Promise<{ attempt: number; folder: string } | undefined> {
  const row = await db
    .selectFrom('artifacts')
    .select(['attempt', 'folder'])
    .where('video_id', '=', videoId)
    .where('kind', '=', 'poster')
    .executeTakeFirst();
  return row?.attempt == null || row.folder === null
    ? undefined
    : { attempt: row.attempt, folder: row.folder };
}

/** How many clips of a video wait or are being made. */
export async function countUnfinished(db: Database, parentId: string): Promise<number> {
  const { count } = await db
    .selectFrom('clips')
    .innerJoin('videos', 'videos.id', 'clips.video_id')
    .select(sql<number>`count(*)`.as('count'))
    .where('parent_id', '=', parentId)
    .where('status', '=', 'processing')
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertClip(trx: Database, clip: ClipRow): Promise<void> {
  await trx.insertInto('clips').values(clip).execute();
}

/** How a video is made of another one; undefined if it is no clip. */
export async function findClip(db: Database, videoId: string): Promise<ClipRow | undefined> {
  return db.selectFrom('clips').selectAll().where('video_id', '=', videoId).executeTakeFirst();
}
