import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ArtifactKind, Schema } from '../db/schema.ts';
import type { ArtifactPlace } from './artifact-prefix.ts';

const COLUMNS = ['video_id', 'kind', 'name', 'first_segment', 'attempt', 'folder', 'bytes'] as const;

/**
 * Inserts artifacts. One of the same kind and name is replaced. The rows are one parameter: a long video in short pieces has more values than
 * a statement can have parameters. Resolves with whether one was replaced.
 */
export async function upsertArtifacts(
  trx: Database,
  rows: readonly Insertable<Schema['artifacts']>[],
): Promise<boolean> {
  const columns = sql.join(COLUMNS.map((column) => sql.ref(column)));
  const records = sql<Selectable<Schema['artifacts']>>`
    select ${columns} from jsonb_populate_recordset(null::artifacts, ${JSON.stringify(rows)}::jsonb)`;
  const upserted = await trx
    .insertInto('artifacts')
    .columns(COLUMNS)
    .expression(records)
    .onConflict((conflict) =>
      conflict.columns(['video_id', 'kind', 'name', 'first_segment']).doUpdateSet((eb) => ({
        attempt: eb.ref('excluded.attempt'),
        folder: eb.ref('excluded.folder'),
        bytes: eb.ref('excluded.bytes'),
      })),
    )
    // A new row has no transaction that has changed it.
    .returning(sql<boolean>`xmax <> 0`.as('isReplaced'))
    .execute();
  return upserted.some(({ isReplaced }) => isReplaced);
}

export async function deleteArtifacts(
  trx: Database,
  videoId: string,
  { kind, names }: { kind: ArtifactKind; names: readonly string[] },
): Promise<void> {
  await trx
    .deleteFrom('artifacts')
    .where('video_id', '=', videoId)
    .where('kind', '=', kind)
    .where('name', 'in', names)
    .execute();
}

/** Sets the stored bytes of a video to the sum of its artifacts. `isChange`: whether its owner has changed something. */
export async function updateStoredBytes(trx: Database, videoId: string, isChange: boolean): Promise<void> {
  await trx
    .updateTable('videos')
    .set((eb) => ({
      storage_bytes: eb
        .selectFrom('artifacts')
        .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
        .where('video_id', '=', videoId),
      ...(isChange && { updated_at: sql`now()` }),
    }))
    .where('id', '=', videoId)
    .execute();
}

/** A file of a kind of which a video has at most one. */
export async function findArtifact(
  db: Database,
  videoId: string,
  kind: ArtifactKind,
): Promise<(ArtifactPlace & { bytes: number }) | undefined> {
  return db
    .selectFrom('artifacts')
    .select(['kind', 'attempt', 'folder', 'bytes'])
    .where('video_id', '=', videoId)
    .where('kind', '=', kind)
    .executeTakeFirst();
}

/** The places of all artifacts of a video. */
export async function findPlaces(db: Database, videoId: string): Promise<ArtifactPlace[]> {
  return db
    .selectFrom('artifacts')
    .select(['kind', 'attempt', 'folder'])
    .distinct()
    .where('video_id', '=', videoId)
    .execute();
}
