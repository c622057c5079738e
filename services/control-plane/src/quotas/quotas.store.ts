import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Quotas, Used } from './quotas.ts';

/** The quotas of a workspace; undefined when none was ever set. */
export async function findQuotas(db: Database, workspaceId: string): Promise<Quotas | undefined> {
  return quotasOf(db, workspaceId).executeTakeFirst();
}

/**
 * The same, locked until the transaction ends, so that one transaction at a time reads and increases the usage. Read
 * the usage with a later statement, so that it includes the changes of the previous transaction.
 */
export async function lockQuotas(trx: Database, workspaceId: string): Promise<Quotas | undefined> {
  return quotasOf(trx, workspaceId).forUpdate().executeTakeFirst();
}

function quotasOf(db: Database, workspaceId: string) {
  return db
    .selectFrom('quotas')
    .select([
      'stored_bytes as storedBytes',
      'transcoded_minutes as transcodedMinutes',
      'videos',
      'uploads',
      'file_bytes as fileBytes',
    ])
    .where('workspace_id', '=', workspaceId);
}

/** Sets some quotas of a workspace, at least one, and leaves the others. */
export async function saveQuotas(
  db: Database,
  workspaceId: string,
  { storedBytes, transcodedMinutes, videos, uploads, fileBytes }: Partial<Quotas>,
): Promise<void> {
  const values = {
    stored_bytes: storedBytes,
    transcoded_minutes: transcodedMinutes,
    videos,
    uploads,
    file_bytes: fileBytes,
  };
  await db
    .insertInto('quotas')
    .values({ workspace_id: workspaceId, ...values })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(values))
    .execute();
}

/**
 * The usage that counts against the quotas of a workspace, without the reservation of the video `apartFrom`. A ticket counts
 * while its video waits for a file: until the ticket has expired and no transfer holds it. Unpurged bytes count in every
 * status of the video. A derivation or a clip counts with the bytes of what it is made from, until its output counts. Reading the stored videos takes 8 ms for 100,000 of them. Without `stored` they are not read, and their number and bytes are 0.
 */
export async function findUsed(
  db: Database,
  workspaceId: string,
  { stored = true, apartFrom = null }: { stored?: boolean; apartFrom?: string | null } = {},
): Promise<Used> {
  const { rows } = await sql<Used>`
    select videos, "storedBytes", uploads, ("ofFiles" + "ofDerivations")::bigint as "reservedBytes", "unpurgedBytes", "transcodedMs" from
      (select count(*) as videos,
          (coalesce(sum(storage_bytes), 0) + (
            select coalesce(sum(bytes), 0) from watermarks where workspace_id = ${workspaceId} and ${stored}
          ))::bigint as "storedBytes"
        from videos
        where workspace_id = ${workspaceId} and deleted_at is null and ${stored}) as stored,
      (select count(*) as uploads,
          coalesce(sum(reserved_bytes) filter (where id is distinct from ${apartFrom}), 0)
            as "ofFiles"
        from videos join upload_tickets on video_id = id
        where workspace_id = ${workspaceId} and environment in ('live', 'test') and status = 'uploading'
          and deleted_at is null and (expires_at > now() or transfer_id is not null)) as open,
      (select coalesce(sum(coalesce(clips.stored_bytes, tasks.input_bytes)), 0) as "ofDerivations"
        from tasks left join clips on command = 'clip' and clips.video_id = tasks.video_id
        where workspace_id = ${workspaceId} and command in ('derive', 'clip') and tasks.input_bytes > 0) as prepared,
      (select coalesce(sum(unpurged_bytes), 0)::bigint as "unpurgedBytes"
        from upload_tickets join videos on id = video_id
        where workspace_id = ${workspaceId} and unpurged_bytes > 0) as unpurged,
      (select coalesce(sum(transcoded_ms), 0)::bigint as "transcodedMs"
        from usage_daily
        where workspace_id = ${workspaceId}
          and day >= date_trunc('month', now() at time zone 'UTC')::date) as month`.execute(db);
  const [used] = rows;
  if (used === undefined) throw new Error('A query of sums returned no row');
  return used;
}

/** Stores the bytes that a ticket reserves from now on. */
export async function storeReservation(trx: Database, videoId: string, bytes: number): Promise<void> {
  await trx
    .updateTable('upload_tickets')
    .set({ reserved_bytes: bytes })
    .where('video_id', '=', videoId)
    .execute();
}
