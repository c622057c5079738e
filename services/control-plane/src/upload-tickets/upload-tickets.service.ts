import { newId } from '@framelane/contracts/ids';
import type { RedeemTicketRequest, RedeemTicketResponse } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import { sourceKey } from '@framelane/object-store/object-keys';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { hashToken, randomBase62 } from '../auth/secret-tokens.ts';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { Commit, Database } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { VideosService } from '../videos/videos.service.ts';
import { requireWatermark } from '../watermarks/watermarks.service.ts';
import { requestPurgeOfTransfers, storedAtMost } from './purge-of-transfers.ts';
import { endUnfinished, isPaused } from './resumable-uploads.store.ts';
import {
  fileTooLarge,
  hasShare,
  isClaimedBy,
  requireClaimable,
  requireShare,
  type UploadShare,
} from './ticket-checks.ts';
import {
  type FoundTicket,
  findExpiredTickets,
  findTicketByHash,
  findTokenHash,
  holdsLease,
  holdVideo,
  insertTicket,
  isSpentBy,
  isTicketExpired,
  leaseTicket,
  lockTicket,
  lockTicketOf,
  releaseTicket,
  renewLease,
  replaceToken,
  spendTicket,
  type TransferIds,
  uploadsInProgress,
} from './upload-tickets.store.ts';
import type { VideoFields } from './video-fields.ts';

/** 32 base62 characters carry 190 bits. */
const TOKEN_LENGTH = 32;

/** What part headers and boundaries add to a multipart body, at most. The file has at least the Content-Length minus this. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** Tickets handled in one run of `expireUnused`. */
const EXPIRY_BATCH = 100;

/** The data of a request for a ticket. */
export type TicketRequest = VideoFields & {
  filename: string;
  /** Bytes, when the client knows them. */
  size: number | undefined;
  expiresInSeconds: number;
};

/** A new ticket. The database stores only the hash of its token. */
export type Ticket = { videoId: string; uploadToken: string; expiresAt: Date; maxBytes: number };

/**
 * The result of a completed transfer: its file belongs to the video, its ticket expired first, or the video accepts no file.
 */
export type Completion = 'registered' | 'expired' | 'cancelled';

/** `maxHours` is the longest validity of a ticket whose upload makes progress. */
export type UploadLimits = { maxBytes: number; leaseSeconds: number; maxHours: number };

type Deps = {
  db: Database;
  videos: VideosService;
  quotas: QuotasService;
  lifecycle: VideoLifecycle;
  logger: Logger;
  metrics: Metrics;
  leaseGrace: LeaseGrace;
  limits: UploadLimits;
  /** The limits of one workspace for uploads in progress. */
  workspaceLimits: UploadShare;
  testVideoHours: number;
};

/** Issues upload tickets and decides which transfer may use one. */
export class UploadTicketsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Creates a video and the ticket for its upload. Throws 413 when the declared size exceeds the limit, and 403
   * `quota_exceeded` when the workspace has no room for the video.
   */
  async issue({ size, expiresInSeconds, ...video }: TicketRequest): Promise<Commit<Ticket>> {
    const { maxBytes } = this.#deps.limits;
    if (size !== undefined && size > maxBytes) throw fileTooLarge(maxBytes);
    const videoId = newId('vid');
    const uploadToken = newUploadToken();
    const keptSeconds = video.environment === 'test' ? this.#deps.testVideoHours * 3600 : Infinity;
    return async (trx) => {
      const declaredBytes = size ?? null;
      const largest = await this.#deps.quotas.requireRoom(trx, video.workspaceId, declaredBytes);
      if (video.watermark) await requireWatermark(trx, video.workspaceId, video.watermark.image);
      await this.#deps.videos.create(trx, {
        ...video,
        id: videoId,
        title: video.title ?? video.filename.replace(/\.[^.]*$/, ''),
        removeInSeconds: keptSeconds === Infinity ? null : keptSeconds,
      });
      const expiresAt = await insertTicket(trx, {
        videoId,
        tokenHash: hashToken(uploadToken),
        declaredBytes,
        expiresInSeconds: Math.min(expiresInSeconds, keptSeconds),
        latestInSeconds: Math.min(this.#deps.limits.maxHours * 3600, keptSeconds),
      });
      return { videoId, uploadToken, expiresAt, maxBytes: declaredBytes ?? Math.min(maxBytes, largest) };
    };
  }

  /**
   * Replaces the token of a ticket whose video waits for its file. The previous token becomes invalid; a transfer that began
   * with it continues. Throws 409 `upload_ticket_closed` when no upload can begin.
   */
  async replaceToken(workspaceId: string, videoId: string): Promise<string> {
    const uploadToken = newUploadToken();
    if (await replaceToken(this.#deps.db, { workspaceId, videoId }, hashToken(uploadToken)))
      return uploadToken;
    throw new Problem(
      'upload_ticket_closed',
      `The ticket of video ${videoId} accepts no more uploads. Get the video to see its status.`,
      { extra: { videoId } },
    );
  }

  /**
   * Leases the ticket of a token to a new transfer, or throws the Problem with the reason. The uploads in progress of a
   * workspace are limited in number and in bytes; one without a Content-Length counts as the largest file. The file must also
   * fit into the quotas of the workspace.
   */
  async redeem({ token, contentLength, claimId }: RedeemTicketRequest): Promise<RedeemTicketResponse> {
    return this.#lease(hashToken(token), contentLength, claimId);
  }

  /** Leases the ticket of an import, whose size is not known yet, or throws the Problem with the reason. */
  async redeemForImport(videoId: string, claimId: string): Promise<RedeemTicketResponse> {
    return this.#lease(await findTokenHash(this.#deps.db, videoId), null, claimId);
  }

  /** Whether the workspace may begin an import now. */
  async hasRoomForImport(workspaceId: string): Promise<boolean> {
    const inProgress = await uploadsInProgress(this.#deps.db, workspaceId);
    return hasShare(inProgress, this.#deps.limits.maxBytes, this.#deps.workspaceLimits);
  }

  /** A repeat of a claim gets the same transfer. */
  async #lease(
    tokenHash: Buffer,
    contentLength: number | null,
    claimId: string,
  ): Promise<RedeemTicketResponse> {
    const { maxBytes, leaseSeconds } = this.#deps.limits;
    const found = requireClaimable(await findTicketByHash(this.#deps.db, tokenHash), claimId);
    const isRepeat = isClaimedBy(found, claimId);
    const { video_id: videoId, workspace_id: workspaceId, traceparent } = found;
    const largest = found.declared_bytes ?? maxBytes;
    const atLeast = contentLength === null ? 1 : contentLength - MULTIPART_OVERHEAD_BYTES;
    if (atLeast > largest) throw fileTooLarge(largest);
    const bytes = contentLength ?? maxBytes;
    const { transferId, allowedBytes } = await this.#deps.db.transaction().execute(async (trx) => {
      // The transfer of a repeated claim counts already.
      if (!isRepeat)
        requireShare(await uploadsInProgress(trx, workspaceId), bytes, this.#deps.workspaceLimits);
      await holdVideo(trx, videoId);
      // Another transfer may have been faster.
      const ticket = requireClaimable(await lockTicket(trx, tokenHash), claimId);
      const current = isClaimedBy(ticket, claimId) ? ticket.transfer_id : null;
      if (current !== null) {
        await renewLease(trx, { videoId, transferId: current }, { leaseSeconds, extendsTicket: false });
        return { transferId: current, allowedBytes: await this.#deps.quotas.reserved(trx, ticket) };
      }
      const file = { atLeast, atMost: Math.min(bytes, maxBytes) };
      const allowedBytes = await this.#deps.quotas.reserve(trx, ticket, file);
      const transferId = newId('xfr');
      await this.#endPrevious(trx, ticket);
      await leaseTicket(trx, tokenHash, { transferId, claimId, bytes, leaseSeconds });
      return { transferId, allowedBytes };
    });
    return {
      videoId,
      workspaceId,
      transferId,
      sourceKey: sourceKey(workspaceId, videoId, transferId),
      maxBytes: allowedBytes,
      leaseSeconds,
      ...(traceparent !== null && { traceparent }),
    };
  }

  /** Ends the transfers that a new one replaces: one whose lease has expired, and a paused upload. */
  async #endPrevious(trx: Database, ticket: FoundTicket): Promise<void> {
    const { video_id: videoId, transfer_id: holder, reserved_bytes: reserved } = ticket;
    const paused = await endUnfinished(trx, videoId, 'superseded');
    const isLost = holder !== null && holder !== paused?.transfer_id;
    const storedOfPaused = storedAtMost(paused);
    if (isLost || storedOfPaused > 0) {
      await requestPurgeOfTransfers(
        trx,
        this.#deps.lifecycle,
        videoId,
        storedOfPaused + (isLost ? reserved : 0),
      );
    }
  }

  /**
   * Ends the lease of a failed transfer, or of a resumable upload that pauses. The token can be used again. The engine has removed what a
   * failed transfer had stored; a purge removes what remains.
   */
  async release(transfer: TransferIds): Promise<void> {
    await this.#deps.db.transaction().execute(async (trx) => {
      await holdVideo(trx, transfer.videoId);
      await lockTicketOf(trx, transfer.videoId);
      const isReleased = await releaseTicket(trx, transfer);
      const isFailed = isReleased && transfer.epoch === undefined;
      if (isFailed) await requestPurgeOfTransfers(trx, this.#deps.lifecycle, transfer.videoId, 0);
    });
  }

  /** Renews the lease of a transfer, and its ticket if it has made progress. */
  async renew({ extendsTicket = false, ...transfer }: MessageData<'upload.progress'>): Promise<void> {
    await renewLease(this.#deps.db, transfer, {
      leaseSeconds: this.#deps.limits.leaseSeconds,
      extendsTicket,
    });
  }

  /** Whether the transfer holds its ticket, so that it should continue. */
  async isCurrent(transfer: TransferIds): Promise<boolean> {
    return holdsLease(this.#deps.db, transfer);
  }

  /** Whether a stored part of the transfer may become part of a source: it is current, or it is paused. */
  async mayContinue(transfer: TransferIds): Promise<boolean> {
    return (await this.isCurrent(transfer)) || isPaused(this.#deps.db, transfer.transferId);
  }

  /**
   * Spends the ticket and moves its video to `processing`. Idempotent: the same completion again changes nothing and has the
   * same result. The file of a refused transfer is purged.
   */
  async complete(upload: MessageData<'upload.completed'>): Promise<Completion> {
    const outcome = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, upload.videoId);
      await lockTicketOf(trx, upload.videoId);
      if (video?.status === 'uploading' && (await spendTicket(trx, upload))) {
        if (!(await this.#deps.lifecycle.beginProcessing(trx, video, upload))) {
          throw new Error(`Video ${video.id} is locked and left the status uploading`);
        }
        await this.#endResumable(trx, upload);
        return 'registered';
      }
      if (await isSpentBy(trx, upload)) return 'repeated';
      await this.#deps.lifecycle.requestPurge(trx, upload.videoId);
      return video?.error_code === 'upload_expired' ? 'expired' : 'cancelled';
    });
    if (outcome === 'registered') this.#deps.metrics.uploadCompleted();
    else this.#deps.logger.info('upload.completion_ignored', { ...upload, outcome });
    return outcome === 'repeated' ? 'registered' : outcome;
  }

  /** Ends the unfinished upload of a ticket that a transfer has spent: the upload itself is complete, or a form has replaced it. */
  async #endResumable(trx: Database, { videoId, epoch }: TransferIds): Promise<void> {
    const ended = await endUnfinished(trx, videoId, epoch === undefined ? 'superseded' : 'completed');
    if (ended?.end_reason === 'superseded') {
      await requestPurgeOfTransfers(trx, this.#deps.lifecycle, videoId, storedAtMost(ended));
    }
  }

  /** Fails the videos whose ticket expired unused. Safe to run on several instances. */
  async expireUnused(): Promise<void> {
    const transfers = this.#deps.leaseGrace.hasPassed(this.#deps.limits.leaseSeconds) ? 'ended' : 'may_live';
    await forEachSettled(
      await findExpiredTickets(this.#deps.db, transfers, EXPIRY_BATCH),
      async (videoId) => {
        const failed = await this.#deps.lifecycle.transaction(async (trx) => {
          const video = await this.#deps.lifecycle.lock(trx, videoId);
          // A transfer may have renewed or completed it since.
          if (video === undefined || !(await isTicketExpired(trx, transfers, videoId))) return false;
          return this.#deps.lifecycle.fail(trx, video, {
            code: 'upload_expired',
            message: 'No file arrived before the upload ticket expired.',
          });
        });
        if (failed) this.#deps.metrics.videoFailed('upload_expired');
      },
    );
  }
}

/** A new single-use upload token; the database stores only its hash. */
function newUploadToken(): string {
  return `ut_${randomBase62(TOKEN_LENGTH)}`;
}
