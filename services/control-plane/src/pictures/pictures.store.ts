import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import { livingVideo } from '../db/living-video.ts';
import type { PictureRow } from '../db/schema.ts';

/** Identifies a picture. */
export type PictureKey = { videoId: string; name: string };

/** Where a picture is stored: in a folder of an attempt. */
export type StoredPicture = { attempt: number; folder: string; bytes: number };

/** The state of a picture. `place` is null unless it is ready. */
export type PictureState = PictureKey & {
  status: PictureRow['status'];
  /** Seconds since its last use, as far as that is stored, or since it failed. */
  ageSeconds: number;
  place: StoredPicture | null;
};

const STATE = [
  'pictures.video_id as videoId',
  'pictures.name',
  'pictures.status',
  sql<number>`extract(epoch from now() - used_at)::float8`.as('ageSeconds'),
  sql<StoredPicture | null>`(
    select json_build_object('attempt', attempt, 'folder', folder, 'bytes', bytes) from artifacts
    where artifacts.video_id = pictures.video_id and kind = 'picture' and artifacts.name = pictures.name
  )`.as('place'),
] as const;

/** A picture of a ready video; undefined if nobody has asked for it. */
export async function findPicture(
  db: Database,
  workspaceId: string,
  { videoId, name }: PictureKey,
): Promise<PictureState | undefined> {
  return livingVideo(db, workspaceId, videoId)
    .innerJoin('pictures', 'pictures.video_id', 'videos.id')
    .select(STATE)
    .where('pictures.name', '=', name)
    .executeTakeFirst();
}

/** The states of those of these pictures that exist. */
export async function findPictures(db: Database, keys: readonly PictureKey[]): Promise<PictureState[]> {
  return db
    .selectFrom('pictures')
    .select(STATE)
    .where(sql<boolean>`(pictures.video_id, pictures.name) in (
      select "videoId", name from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as key ("videoId" text, name text)
    )`)
    .execute();
}

/** Stores that a picture is being made, unless it is already. One that has failed is made again. */
export async function savePreparing(
  trx: Database,
  workspaceId: string,
  { videoId, name }: PictureKey,
): Promise<void> {
  await trx
    .insertInto('pictures')
    .values({ video_id: videoId, workspace_id: workspaceId, name })
    .onConflict((conflict) =>
      conflict.columns(['video_id', 'name']).doUpdateSet({ status: 'preparing', used_at: sql<Date>`now()` }),
    )
    .execute();
}

/** How many pictures of a video and of its workspace are being made. */
export async function countPreparing(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<{ ofVideo: number; ofWorkspace: number }> {
  return db
    .selectFrom('pictures')
    .select([
      sql<number>`count(*) filter (where video_id = ${videoId})`.as('ofVideo'),
      sql<number>`count(*)`.as('ofWorkspace'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'preparing')
    .executeTakeFirstOrThrow();
}

/** How many pictures of a video exist, and the bytes of those that are stored. */
export async function sumUpPictures(
  db: Database,
  videoId: string,
): Promise<{ count: number; bytes: number }> {
  return db
    .selectFrom('pictures')
    .leftJoin('artifacts', (join) =>
      join
        .onRef('artifacts.video_id', '=', 'pictures.video_id')
        .on('kind', '=', 'picture')
        .onRef('artifacts.name', '=', 'pictures.name'),
    )
    .select([sql<number>`count(*)`.as('count'), sql<number>`coalesce(sum(bytes), 0)::float8`.as('bytes')])
    .where('pictures.video_id', '=', videoId)
    .executeTakeFirstOrThrow();
}

/**
 * Deletes the pictures of a video that were not used for longest, and that are not being made, until `count` pictures with `bytes` are left. Resolves
 * with the names of the deleted ones.
 */
export async function deleteLeastRecentlyUsed(
  trx: Database,
  videoId: string,
  { count, bytes }: { count: number; bytes: number },
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with ranked as (
      select pictures.name,
        row_number() over newest as rank, sum(coalesce(artifacts.bytes, 0)) over newest as total
      from pictures left join artifacts
        on artifacts.video_id = pictures.video_id and kind = 'picture' and artifacts.name = pictures.name
      where pictures.video_id = ${videoId} and status <> 'preparing'
      window newest as (order by used_at desc, pictures.name)
    )
    delete from pictures using ranked
    where pictures.video_id = ${videoId} and pictures.name = ranked.name and (rank > ${count} or total > ${bytes})
    returning pictures.name`.execute(trx);
  return rows.map(({ name }) => name);
}

/** Stores that a picture is used, unless that was stored less than `seconds` ago. */
export async function saveUse(db: Database, { videoId, name }: PictureKey, seconds: number): Promise<void> {
  await db
    .updateTable('pictures')
    .set({ used_at: sql<Date>`now()` })
    .where('video_id', '=', videoId)
    .where('name', '=', name)
    .where('status', '=', 'ready')
    .where('used_at', '<', inSeconds(-seconds))
    .execute();
}
