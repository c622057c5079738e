import { type ExpressionBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import type { Schema, UploadTicketRow } from '../db/schema.ts';

/** A transfer. That of a resumable upload has the epoch in which its engine opened it. */
export type TransferIds = { videoId: string; transferId: string; epoch?: number | undefined };

/** Whether a transfer with an expired lease has ended. During the lease grace, its engine may have been unable to renew the lease. */
export type ExpiredTransfers = 'ended' | 'may_live';

/** A ticket, judged by the clock of the database. */
export type FoundTicket = Pick<
  UploadTicketRow,
  'video_id' | 'transfer_id' | 'used_at' | 'expires_at' | 'declared_bytes' | 'reserved_bytes' | 'claim_id'
> & {
  workspace_id: string;
  /** That of the video. */
  traceparent: string | null;
  is_leased: boolean;
  is_expired: boolean;
};

/** Reserves the declared bytes. Resolves with when the ticket expires. */
export async function insertTicket(
  db: Database,
  ticket: {
    videoId: string;
    tokenHash: Buffer;
    declaredBytes: number | null;
    expiresInSeconds: number;
    latestInSeconds: number;
  },
): Promise<Date> {
  const { expires_at } = await db
    .insertInto('upload_tickets')
    .values({
      video_id: ticket.videoId,
      token_hash: ticket.tokenHash,
      declared_bytes: ticket.declaredBytes,
      reserved_bytes: ticket.declaredBytes ?? 0,
      expires_at: inSeconds(ticket.expiresInSeconds),
      extension_seconds: ticket.expiresInSeconds,
      latest_expires_at: inSeconds(ticket.latestInSeconds),
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** A ticket with the workspace of its video. The deletion of a video deletes its ticket. */
export async function findTicketByHash(db: Database, tokenHash: Buffer): Promise<FoundTicket | undefined> {
  return ticketByHash(db, tokenHash).executeTakeFirst();
}

/** The same, locked until the transaction ends. */
export async function lockTicket(trx: Database, tokenHash: Buffer): Promise<FoundTicket | undefined> {
  return ticketByHash(trx, tokenHash).forNoKeyUpdate('upload_tickets').executeTakeFirst();
}

/**
 * Locks the ticket of a video until the transaction ends. Do this before a statement that depends on the epoch of its upload: a
 * statement that waits for the lock itself does not see an epoch that began meanwhile.
 */
export async function lockTicketOf(trx: Database, videoId: string): Promise<void> {
  await trx
    .selectFrom('upload_tickets')
    .select('video_id')
    .where('video_id', '=', videoId)
    .forNoKeyUpdate()
    .execute();
}

/**
 * Locks a video against moves and deletion until the transaction ends. Do this before the first of two updates of its ticket: at the
 * second one PostgreSQL locks the video for the foreign key, while moves lock the video first and then its ticket.
 */
export async function holdVideo(trx: Database, videoId: string): Promise<void> {
  await trx.selectFrom('videos').select('id').where('id', '=', videoId).forKeyShare().execute();
}

function ticketByHash(db: Database, tokenHash: Buffer) {
  return db
    .selectFrom('upload_tickets')
    .innerJoin('videos', 'videos.id', 'upload_tickets.video_id')
    .select([
      'video_id',
      'transfer_id',
      'used_at',
      'upload_tickets.expires_at',
      'declared_bytes',
      'reserved_bytes',
      'claim_id',
      'videos.workspace_id',
      'videos.traceparent',
    ])
    .select([
      sql<boolean>`coalesce(lease_expires_at > now(), false)`.as('is_leased'),
      sql<boolean>`upload_tickets.expires_at <= now()`.as('is_expired'),
    ])
    .where('token_hash', '=', tokenHash);
}

/** The token hash of the ticket of a video. Without a ticket, an empty buffer, which equals no hash. */
export async function findTokenHash(db: Database, videoId: string): Promise<Buffer> {
  const row = await db
    .selectFrom('upload_tickets')
    .select('token_hash')
    .where('video_id', '=', videoId)
    .executeTakeFirst();
  return row?.token_hash ?? Buffer.alloc(0);
}

/** Replaces the token of an unused ticket that has not expired. Resolves with false when there is no such ticket. */
export async function replaceToken(
  db: Database,
  { workspaceId, videoId }: { workspaceId: string; videoId: string },
  tokenHash: Buffer,
): Promise<boolean> {
  const result = await db
    .updateTable('upload_tickets')
    .from('videos')
    .set({ token_hash: tokenHash })
    .where('video_id', '=', videoId)
    .where('used_at', 'is', null)
    .where('upload_tickets.expires_at', '>', sql<Date>`now()`)
    .whereRef('videos.id', '=', 'video_id')
    .where('videos.workspace_id', '=', workspaceId)
    .where('videos.status', '=', 'uploading')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * The transfers in progress of a workspace. Locks the workspace until the transaction ends, so that concurrent leases cannot exceed the
 * limit together.
 */
export async function uploadsInProgress(
  trx: Database,
  workspaceId: string,
): Promise<{ count: number; bytes: number }> {
  await trx
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return trx
    .selectFrom('upload_tickets')
    .innerJoin('videos', 'videos.id', 'upload_tickets.video_id')
    .select([
      sql<number>`count(*)::int`.as('count'),
      sql<number>`coalesce(sum(announced_bytes), 0)::float8`.as('bytes'),
    ])
    .where('transfer_id', 'is not', null)
    .where('used_at', 'is', null)
    .where('lease_expires_at', '>', sql<Date>`now()`)
    .where('videos.workspace_id', '=', workspaceId)
    .where('videos.status', '=', 'uploading')
    .executeTakeFirstOrThrow();
}

/**
 * Leases an unused ticket that has not expired and has no other transfer. One statement, so that one of several concurrent
 * transfers gets it. Resolves with whether this one did.
 */
export async function leaseTicket(
  db: Database,
  tokenHash: Buffer,
  transfer: { transferId: string; claimId: string; bytes: number; leaseSeconds: number },
): Promise<boolean> {
  const result = await db
    .updateTable('upload_tickets')
    .set({
      transfer_id: transfer.transferId,
      claim_id: transfer.claimId,
      announced_bytes: transfer.bytes,
      lease_expires_at: inSeconds(transfer.leaseSeconds),
    })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where((eb) => eb.or([eb('transfer_id', 'is', null), eb('lease_expires_at', '<=', sql<Date>`now()`)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Matches the unused ticket that this transfer holds. A resumable upload holds it in its latest epoch only. */
function isHeldBy({ videoId, transferId, epoch }: TransferIds) {
  return (eb: ExpressionBuilder<Schema, 'upload_tickets'>) => {
    const held = [
      eb('upload_tickets.video_id', '=', videoId),
      eb('upload_tickets.transfer_id', '=', transferId),
      eb('upload_tickets.used_at', 'is', null),
    ];
    if (epoch === undefined) return eb.and(held);
    const latest = eb
      .selectFrom('resumable_uploads')
      .select('resumable_uploads.transfer_id')
      .where('resumable_uploads.transfer_id', '=', transferId)
      .where('epoch', '=', epoch)
      .where('ended_at', 'is', null);
    return eb.and([...held, eb.exists(latest)]);
  };
}

/**
 * Renews the lease of the transfer that holds the ticket, and with `extendsTicket` the ticket, up to its latest expiry. Resolves
 * with when the ticket expires, or undefined when the transfer does not hold it.
 */
export async function renewLease(
  db: Database,
  transfer: TransferIds,
  { leaseSeconds, extendsTicket }: { leaseSeconds: number; extendsTicket: boolean },
): Promise<Date | undefined> {
  const extended = sql<Date>`greatest(upload_tickets.expires_at,
    least(now() + make_interval(secs => extension_seconds), latest_expires_at))`;
  const row = await db
    .updateTable('upload_tickets')
    .from('videos')
    .set({
      lease_expires_at: inSeconds(leaseSeconds),
      ...(extendsTicket && { expires_at: extended }),
    })
    .where(isHeldBy(transfer))
    .whereRef('videos.id', '=', 'upload_tickets.video_id')
    .where('videos.status', '=', 'uploading')
    .returning('upload_tickets.expires_at')
    .executeTakeFirst();
  return row?.expires_at;
}

/** Ends the lease of a transfer that failed or pauses. Resolves with whether it held the ticket. */
export async function releaseTicket(db: Database, transfer: TransferIds): Promise<boolean> {
  const result = await db
    .updateTable('upload_tickets')
    .set({ transfer_id: null, lease_expires_at: null })
    .where(isHeldBy(transfer))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Spends the ticket for a completed transfer. Resolves with false when it is spent or another transfer holds it. */
export async function spendTicket(db: Database, transfer: TransferIds): Promise<boolean> {
  const result = await db
    .updateTable('upload_tickets')
    .set({ used_at: sql`now()` })
    .where(isHeldBy(transfer))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Whether this transfer spent the ticket. */
export async function isSpentBy(db: Database, transfer: TransferIds): Promise<boolean> {
  const row = await db
    .selectFrom('upload_tickets')
    .select('video_id')
    .where('video_id', '=', transfer.videoId)
    .where('transfer_id', '=', transfer.transferId)
    .where('used_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether the ticket of a video that waits for its file is leased to this transfer. */
export async function holdsLease(db: Database, transfer: TransferIds): Promise<boolean> {
  const row = await db
    .selectFrom('upload_tickets')
    .innerJoin('videos', 'videos.id', 'upload_tickets.video_id')
    .select('video_id')
    .where(isHeldBy(transfer))
    .where('videos.status', '=', 'uploading')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Videos whose ticket has expired unused and has no transfer. `transfers` says whether a transfer with an expired lease has
 * ended.
 */
export async function findExpiredTickets(
  db: Database,
  transfers: ExpiredTransfers,
  limit: number,
): Promise<string[]> {
  const rows = await expiredTickets(db, transfers).limit(limit).execute();
  return rows.map((row) => row.video_id);
}

/** Whether the ticket of this video has expired unused and has no transfer. */
export async function isTicketExpired(
  db: Database,
  transfers: ExpiredTransfers,
  videoId: string,
): Promise<boolean> {
  const ticket = expiredTickets(db, transfers).where('video_id', '=', videoId);
  return (await ticket.executeTakeFirst()) !== undefined;
}

function expiredTickets(db: Database, transfers: ExpiredTransfers) {
  const hasEnded = transfers === 'ended' ? sql<boolean>`lease_expires_at <= now()` : sql<boolean>`false`;
  return db
    .selectFrom('upload_tickets')
    .innerJoin('videos', 'videos.id', 'upload_tickets.video_id')
    .select('video_id')
    .where('used_at', 'is', null)
    .where('upload_tickets.expires_at', '<=', sql<Date>`now()`)
    .where((eb) => eb.or([eb('transfer_id', 'is', null), hasEnded]))
    .where('videos.status', '=', 'uploading');
}
