import { DERIVATION_COMMANDS } from '@framelane/contracts/outputs/kinds';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Schema } from '../db/schema.ts';
import { FAILED_SOURCE_DAYS } from './keep-source.ts';

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
 * Marks the source of a ready or failed video as deleted, `when` it is due and no task is left, or at once. Resolves with whether it did. The
 * video cannot be retried from then on, and no task can begin, so nothing uses the source again.
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
      updated_at: sql`now()`,
    })
    .where('id', '=', videoId)
    .where(hasDeletableSource)
    // Rounded like the stored time, so that a source that is never kept is due in the transaction that makes its video
    // ready.
    .$if(when === 'due', (query) =>
      query.where('delete_source_at', '<=', sql<Date>`now()::timestamptz(3)`).where(hasNoTask),
    )
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
    .where(hasNoTask)
    .orderBy('delete_source_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether no task reads the source. Derivations read stored renditions. */
function hasNoTask({ not, exists, selectFrom }: ExpressionBuilder<Schema, 'videos'>) {
  const reading = selectFrom('tasks')
    .select('tasks.number')
    .whereRef('tasks.video_id', '=', 'videos.id')
    .where('tasks.command', 'not in', DERIVATION_COMMANDS);
  return not(exists(reading));
}

/** No attempt needs the source of a ready or failed video. */
function hasDeletableSource(eb: ExpressionBuilder<Schema, 'videos'>) {
  return eb.and([
    eb('status', 'in', ['ready', 'failed']),
    eb('deleted_at', 'is', null),
    eb.exists(
      eb
        .selectFrom('artifacts')
        .select('kind')
        .whereRef('artifacts.video_id', '=', 'videos.id')
        .where('kind', '=', 'source'),
    ),
  ]);
}
