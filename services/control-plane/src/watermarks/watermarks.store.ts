import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { WatermarkRow } from '../db/schema.ts';

/** An image without its bytes. */
export type WatermarkFacts = Pick<
  WatermarkRow,
  'id' | 'name' | 'format' | 'width' | 'height' | 'bytes' | 'created_at'
>;

const FACTS = ['id', 'name', 'format', 'width', 'height', 'bytes', 'created_at'] as const;

/** Serializes the transactions that add images to a workspace, until this one ends. */
export async function lockWatermarksOf(trx: Database, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`watermarks:${workspaceId}`}, 0))`.execute(trx);
}

/** The number of stored images, with those that were deleted and that videos need. */
export async function countStored(db: Database, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('watermarks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertWatermark(
  trx: Database,
  {
    workspaceId,
    ...image
  }: Pick<WatermarkRow, 'id' | 'name' | 'format' | 'width' | 'height' | 'image'> & {
    workspaceId: string;
  },
): Promise<WatermarkFacts> {
  return trx
    .insertInto('watermarks')
    .values({ ...image, bytes: image.image.length, workspace_id: workspaceId })
    .returning(FACTS)
    .executeTakeFirstOrThrow();
}

/** The images of a workspace that are not deleted, newest first. */
export async function listWatermarks(db: Database, workspaceId: string): Promise<WatermarkFacts[]> {
  return existing(db, workspaceId)
    .select(FACTS)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export async function findWatermark(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<WatermarkFacts | undefined> {
  return existing(db, workspaceId).select(FACTS).where('id', '=', id).executeTakeFirst();
}

/** The bytes of an image that is not deleted. */
export async function findOwnImage(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<Pick<WatermarkRow, 'format' | 'image'> | undefined> {
  return existing(db, workspaceId).select(['format', 'image']).where('id', '=', id).executeTakeFirst();
}

/** Whether the image exists. It is not deleted before the transaction ends. */
export async function holdWatermark(trx: Database, workspaceId: string, id: string): Promise<boolean> {
  const row = await existing(trx, workspaceId)
    .select('id')
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Marks an image as deleted. Resolves with whether it existed. */
export async function markDeleted(db: Database, workspaceId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('watermarks')
    .set({ deleted_at: sql`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The bytes of an image, deleted or not. */
export async function findImage(
  db: Database,
  id: string,
): Promise<Pick<WatermarkRow, 'format' | 'image'> | undefined> {
  return db.selectFrom('watermarks').select(['format', 'image']).where('id', '=', id).executeTakeFirst();
}

/**
 * Removes deleted images that no video needs: a video needs its image until it is ready, without tasks of its plan, or deleted. No video can begin
 * to: new ones hold an image that is not deleted, and a ready video is never transcoded again. Clips are made of segments that have it.
 */
export async function removeUnneeded(db: Database): Promise<void> {
  await sql`
    delete from watermarks
    where deleted_at is not null and not exists (
      select from videos
      where watermark ->> 'image' = watermarks.id and videos.deleted_at is null
        and not exists (select from clips where video_id = videos.id)
        and (status <> 'ready' or exists (select from tasks where video_id = videos.id and command in ('task', 'background')))
    )`.execute(db);
}

function existing(db: Database, workspaceId: string) {
  return db.selectFrom('watermarks').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
}
