import type { Database } from '../db/database.ts';
import type { UploadTicketRow } from '../db/schema.ts';
import { findQuotas, findUsed, lockQuotas, saveQuotas, storeReservation } from './quotas.store.ts';
import {
  hasRoomForBytes,
  type Limits,
  type Quotas,
  requireFileSize,
  requireMinutes,
  requirePurged,
  requireRoomForBytes,
  requireRoomForVideo,
  toLimits,
  UNLIMITED,
} from './quotas.ts';

/** The fields of a ticket that a reservation needs. */
type TicketToReserve = Pick<UploadTicketRow, 'video_id' | 'declared_bytes'> & { workspace_id: string };

/** The size of a file, as its transfer announces it. */
type AnnouncedFile = { atLeast: number; atMost: number };

/** Whether a workspace may store `bytes` more. Locks its quotas until the transaction ends. */
export async function mayStore(trx: Database, workspaceId: string, bytes: number): Promise<boolean> {
  const quotas = await lockQuotas(trx, workspaceId);
  if (quotas === undefined || quotas.storedBytes === null) return true;
  return hasRoomForBytes(quotas, await findUsed(trx, workspaceId), bytes);
}

/**
 * The quotas of workspaces, for both environments together (ADR 27). Usage is summed up from the rows that count. A transaction that
 * needs room for a video or for bytes locks the quotas of the workspace first, so concurrent ones cannot exceed a quota together.
 * Minutes and the bytes of renditions are not known beforehand, so accepted videos can exceed those quotas.
 */
export class QuotasService {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /**
   * Throws 403 `quota_exceeded` unless the workspace may have another video, whose file has `bytes` if that is known. The
   * caller inserts the video and its reservation in the same transaction. Resolves with the largest file that the workspace
   * may upload, `Infinity` without a limit.
   */
  async requireRoom(trx: Database, workspaceId: string, bytes: number | null): Promise<number> {
    const quotas = await lockQuotas(trx, workspaceId);
    if (quotas === undefined) return Infinity;
    const stored = quotas.storedBytes !== null || quotas.videos !== null;
    requireRoomForVideo(quotas, await findUsed(trx, workspaceId, { stored }), bytes);
    return quotas.fileBytes ?? Infinity;
  }

  /**
   * Reserves room for the file of a transfer that begins, unless its ticket has reserved a declared size. Resolves with the
   * maximum size of the file in bytes. Throws 403 `quota_exceeded` when the file is too large, or there is no room for it, and
   * 503 while ended transfers take the room.
   */
  async reserve(trx: Database, ticket: TicketToReserve, file: AnnouncedFile): Promise<number> {
    const quotas = (await lockQuotas(trx, ticket.workspace_id)) ?? UNLIMITED;
    requireFileSize(quotas, file.atLeast);
    const largest = quotas.fileBytes ?? Infinity;
    const { declared_bytes: declared } = ticket;
    // The engine refuses an empty upload.
    const bytes = declared ?? Math.max(1, Math.min(file.atMost, largest));
    if (quotas.storedBytes !== null) {
      const used = await findUsed(trx, ticket.workspace_id, { apartFrom: ticket.video_id });
      if (declared === null) requireRoomForBytes(quotas, used, bytes);
      else requirePurged(quotas, used, bytes);
    }
    if (declared === null) await storeReservation(trx, ticket.video_id, bytes);
    return Math.min(bytes, largest);
  }

  /** Lowers a reservation to `bytes`, unless the ticket has reserved a declared size. */
  async reserveLess(
    trx: Database,
    ticket: Omit<TicketToReserve, 'workspace_id'>,
    bytes: number,
  ): Promise<void> {
    if (ticket.declared_bytes === null) await storeReservation(trx, ticket.video_id, bytes);
  }

  /** The maximum size in bytes of the file of a transfer for which `reserve` has been called. */
  async reserved(
    db: Database,
    ticket: Pick<UploadTicketRow, 'reserved_bytes'> & { workspace_id: string },
  ): Promise<number> {
    const quotas = await findQuotas(db, ticket.workspace_id);
    return Math.min(ticket.reserved_bytes, quotas?.fileBytes ?? Infinity);
  }

  /** Throws 403 `quota_exceeded` unless the workspace may store `bytes` more. */
  async requireBytes(trx: Database, workspaceId: string, bytes: number): Promise<void> {
    const quotas = await lockQuotas(trx, workspaceId);
    if (quotas === undefined || quotas.storedBytes === null) return;
    requireRoomForBytes(quotas, await findUsed(trx, workspaceId), bytes);
  }

  /** Throws 403 `quota_exceeded` unless the workspace may have another video that is made of `bytes` of its stored segments. */
  async requireRoomForClip(trx: Database, workspaceId: string, bytes: number): Promise<void> {
    const quotas = await lockQuotas(trx, workspaceId);
    if (quotas === undefined) return;
    // A clip is no file and no upload.
    const ofClip = { ...quotas, fileBytes: null, uploads: null };
    requireRoomForVideo(ofClip, await findUsed(trx, workspaceId), bytes);
  }

  /** Throws 403 `quota_exceeded` once the workspace has used up its minutes of this month. */
  async requireMinutes(db: Database, workspaceId: string): Promise<void> {
    const quotas = await findQuotas(db, workspaceId);
    if (quotas === undefined) return;
    const { transcodedMs } = await findUsed(db, workspaceId, { stored: false });
    requireMinutes(quotas, transcodedMs);
  }

  /** The quotas of a workspace, and the usage that counts against them now. */
  async limits(workspaceId: string): Promise<Limits> {
    const [quotas = UNLIMITED, used] = await Promise.all([
      findQuotas(this.#db, workspaceId),
      findUsed(this.#db, workspaceId),
    ]);
    return toLimits(quotas, used);
  }

  /** Sets some quotas of an existing workspace; null removes one. Resolves with all quotas and their usage. */
  async set(workspaceId: string, changes: Partial<Quotas>): Promise<Limits> {
    await saveQuotas(this.#db, workspaceId, changes);
    return this.limits(workspaceId);
  }
}
