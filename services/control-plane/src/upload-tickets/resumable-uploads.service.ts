import { newId } from '@framelane/contracts/ids';
import type {
  CreateResumableRequest,
  CreateResumableResponse,
  OpenResumableRequest,
  OpenResumableResponse,
  SaveResumableRequest,
  SaveResumableResponse,
  TerminateResumableRequest,
  TerminateResumableResponse,
} from '@framelane/contracts/internal-api';
import { sourceKey } from '@framelane/object-store/object-keys';
import { Problem } from '@framelane/service-kit/problem';
import { hashToken } from '../auth/secret-tokens.ts';
import type { Database } from '../db/database.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { requestPurgeOfTransfers, storedAtMost } from './purge-of-transfers.ts';
import {
  beginEpoch,
  countResumable,
  endUnfinished,
  findResumable,
  findUnfinished,
  insertResumable,
  leaseToResumable,
  type ResumableUploadRow,
  storeCheckpoint,
} from './resumable-uploads.store.ts';
import {
  fileTooLarge,
  requireShare,
  requireUnspent,
  tokenExhausted,
  tokenInvalid,
  type UploadShare,
  uploadInProgress,
} from './ticket-checks.ts';
import type { UploadLimits } from './upload-tickets.service.ts';
import {
  type FoundTicket,
  findTicketByHash,
  holdVideo,
  lockTicket,
  releaseTicket,
  renewLease,
  uploadsInProgress,
} from './upload-tickets.store.ts';

/** Uploads that can be created with one ticket. A client creates one for each file that it begins to send, and after an upload is lost. */
const UPLOADS_PER_TICKET = 100;

type Deps = {
  db: Database;
  lifecycle: VideoLifecycle;
  quotas: QuotasService;
  limits: UploadLimits;
  workspaceLimits: UploadShare;
  filesUrl: string;
};

/**
 * Stores the progress of resumable uploads, so that any engine can continue them. While an engine has an upload open, the
 * upload holds the lease of its ticket, like any transfer. An engine that opens it begins a new epoch; reports of earlier epochs change
 * nothing.
 */
export class ResumableUploadsService {
  readonly #deps: Deps;

  /** `filesUrl` is the address of the engines at which clients create resumable uploads. */
  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Creates an upload for the ticket of a token, or finds the unfinished one of the same file. A paused upload of another file is
   * superseded, and a purge of what it has stored is due. Throws the Problem with the reason why the ticket accepts no file.
   */
  async create(request: CreateResumableRequest): Promise<CreateResumableResponse> {
    const { token, length, metadata } = request;
    const tokenHash = hashToken(token);
    const found = requireUnspent(await findTicketByHash(this.#deps.db, tokenHash));
    return this.#deps.db.transaction().execute(async (trx) => {
      await holdVideo(trx, found.video_id);
      const ticket = requireUnspent(await lockTicket(trx, tokenHash));
      const maxBytes = ticket.declared_bytes ?? this.#deps.limits.maxBytes;
      if (length > maxBytes) throw fileTooLarge(maxBytes);
      const unfinished = await findUnfinished(trx, ticket.video_id);
      if (unfinished?.length === length && unfinished.metadata === metadata) {
        return this.#created(unfinished.transfer_id, ticket);
      }
      if (ticket.is_leased) throw uploadInProgress();
      if ((await countResumable(trx, ticket.video_id)) >= UPLOADS_PER_TICKET) {
        throw tokenExhausted(UPLOADS_PER_TICKET);
      }
      // A form whose lease has expired may still complete, until this upload is opened.
      const isFormLost = ticket.transfer_id !== null && ticket.transfer_id !== unfinished?.transfer_id;
      const atMost = isFormLost ? Math.max(length, ticket.reserved_bytes) : length;
      await this.#deps.quotas.reserve(trx, ticket, { atLeast: length, atMost });
      await this.#end(trx, ticket.video_id, 'superseded');
      const transferId = newId('xfr');
      await insertResumable(trx, { transferId, videoId: ticket.video_id, length, metadata });
      return this.#created(transferId, ticket);
    });
  }

  /** Leases the ticket to the upload for the engine that requests it. Throws the Problem with the reason why it cannot. */
  async open(request: OpenResumableRequest): Promise<OpenResumableResponse> {
    const { ticket, upload } = await this.#find(request.token, request.transferId);
    const { length, metadata, transfer_id: transferId } = upload;
    if (upload.end_reason === 'completed') return { status: 'complete', length, metadata };
    if (upload.ended_at !== null || ticket.used_at !== null || ticket.is_expired) throw uploadEnded();
    const { video_id: videoId, workspace_id: workspaceId, traceparent } = ticket;
    const { leaseSeconds } = this.#deps.limits;
    return this.#deps.db.transaction().execute(async (trx) => {
      if (!(ticket.is_leased && ticket.transfer_id === transferId)) {
        requireShare(await uploadsInProgress(trx, workspaceId), length, this.#deps.workspaceLimits);
      }
      await holdVideo(trx, videoId);
      const held = await lockTicket(trx, hashToken(request.token));
      const expiresAt = await leaseToResumable(trx, { videoId, transferId, bytes: length, leaseSeconds });
      if (expiresAt === undefined) throw uploadInProgress();
      const opened = await beginEpoch(trx, transferId, request.epoch, request.claimId);
      if (opened === undefined) throw uploadEnded();
      if (held !== undefined && held.transfer_id !== null && held.transfer_id !== transferId) {
        // The lease of a form has expired.
        await this.#deps.quotas.reserveLess(trx, held, length);
        await requestPurgeOfTransfers(trx, this.#deps.lifecycle, videoId, held.reserved_bytes);
      }
      const { epoch, checkpoint } = opened;
      return {
        status: 'open',
        length,
        metadata,
        videoId,
        workspaceId,
        sourceKey: sourceKey(workspaceId, videoId, transferId),
        epoch,
        checkpoint,
        leaseSeconds,
        expiresAt: expiresAt.toISOString(),
        ...(traceparent !== null && { traceparent }),
      };
    });
  }

  /**
   * Saves the progress of the upload, and renews its lease and its ticket. Throws 409 `transfer_lost` if another engine has begun a later
   * epoch, or the ticket no longer accepts this upload.
   */
  async save({ checkpoint, ...transfer }: SaveResumableRequest): Promise<SaveResumableResponse> {
    return this.#deps.db.transaction().execute(async (trx) => {
      const expiresAt = await renewLease(trx, transfer, {
        leaseSeconds: this.#deps.limits.leaseSeconds,
        extendsTicket: true,
      });
      // The renewal may have waited for the row lock of the ticket. Its snapshot then misses an epoch that began meanwhile.
      if (expiresAt === undefined || !(await storeCheckpoint(trx, transfer, checkpoint))) {
        throw new Problem(
          'transfer_lost',
          'Another engine has the upload, or its ticket no longer accepts a file.',
        );
      }
      return { expiresAt: expiresAt.toISOString() };
    });
  }

  /** Ends an upload. The ticket can be used again. Throws 403 `upload_complete` if it is complete. */
  async terminate(request: TerminateResumableRequest): Promise<TerminateResumableResponse> {
    const { ticket, upload } = await this.#find(request.token, request.transferId);
    const { video_id: videoId, workspace_id: workspaceId } = ticket;
    const { transfer_id: transferId } = upload;
    return this.#deps.db.transaction().execute(async (trx) => {
      await holdVideo(trx, videoId);
      await lockTicket(trx, hashToken(request.token));
      const current = await findResumable(trx, { videoId, transferId });
      if (current?.end_reason === 'completed') throw uploadComplete();
      if (current === undefined || current.ended_at !== null) throw uploadEnded();
      await this.#end(trx, videoId, 'terminated');
      return { sourceKey: sourceKey(workspaceId, videoId, transferId), checkpoint: current.checkpoint };
    });
  }

  /** Ends the unfinished upload of a ticket. The ticket no longer has it, so that the purge removes what it has stored. */
  async #end(trx: Database, videoId: string, reason: 'superseded' | 'terminated'): Promise<void> {
    const ended = await endUnfinished(trx, videoId, reason);
    if (ended === undefined) return;
    await releaseTicket(trx, { videoId, transferId: ended.transfer_id });
    const bytes = storedAtMost(ended);
    if (bytes > 0) await requestPurgeOfTransfers(trx, this.#deps.lifecycle, videoId, bytes);
  }

  async #find(
    token: string,
    transferId: string,
  ): Promise<{ ticket: FoundTicket; upload: ResumableUploadRow }> {
    const ticket = await findTicketByHash(this.#deps.db, hashToken(token));
    if (ticket === undefined) throw tokenInvalid();
    const upload = await findResumable(this.#deps.db, { videoId: ticket.video_id, transferId });
    if (upload === undefined) throw uploadNotFound();
    return { ticket, upload };
  }

  #created(transferId: string, ticket: FoundTicket): CreateResumableResponse {
    return {
      transferId,
      url: `${this.#deps.filesUrl}/${transferId}`,
      expiresAt: ticket.expires_at.toISOString(),
    };
  }
}

function uploadNotFound(): Problem {
  return new Problem(
    'upload_not_found',
    'This upload token has no upload with this id. Create a new upload with this token.',
  );
}

function uploadEnded(): Problem {
  return new Problem(
    'upload_ended',
    'This upload has been terminated or replaced, or its ticket has expired. Create a new upload.',
  );
}

function uploadComplete(): Problem {
  return new Problem(
    'upload_complete',
    'This upload is complete. An upload token cannot delete a complete file. To delete it, delete the video.',
  );
}
