import { newId } from '@framelane/contracts/ids';
import type { RedeemTicketRequest, RedeemTicketResponse } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import { sourceKey } from '@framelane/object-store/object-keys';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { settleEach } from '@framelane/service-kit/settle-each';
import type { Database } from '../db/database.ts';
import type { NoteOutcome } from '../db/note-outcome.ts';
import type { Environment, Metadata, PlaybackPolicy, UploadTicketRow } from '../db/schema.ts';
import type { EngineContact } from '../engine-events/engine-contact.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { VideoTransitions } from '../videos/video-transitions.ts';
import type { VideosService } from '../videos/videos.service.ts';
import {
  findExpiredTickets,
  findTicketByHash,
  holdsLease,
  insertTicket,
  isTicketExpired,
  leaseTicket,
  releaseTicket,
  renewLease,
  replaceToken,
  spendTicket,
} from './upload-tickets.store.ts';
import { hashUploadToken, newUploadToken } from './upload-token.ts';

/** Part headers and boundaries of a multipart body; a larger Content-Length means a larger file. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** Tickets looked at in one go by `expireUnused`. */
const EXPIRY_BATCH = 100;

/** What a client asks a ticket for. */
export type TicketRequest = {
  workspaceId: string;
  environment: Environment;
  filename: string;
  title: string | undefined;
  metadata: Metadata | undefined;
  tags: string[] | undefined;
  passthrough: string | undefined;
  playbackPolicy: PlaybackPolicy | undefined;
  /** Bytes, when the client knows them. */
  size: number | undefined;
  expiresInSeconds: number;
};

/** A new ticket. The token is known only now. */
export type Ticket = { videoId: string; uploadToken: string; expiresAt: Date; maxBytes: number };

type Transfer = { videoId: string; transferId: string };

/** Issues upload tickets and decides which transfer may use one. */
export class UploadTicketsService {
  readonly #db: Database;
  readonly #videos: VideosService;
  readonly #transitions: VideoTransitions;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #contact: EngineContact;
  readonly #limits: { maxBytes: number; leaseSeconds: number };
  readonly #testVideoHours: number;

  constructor(deps: {
    db: Database;
    videos: VideosService;
    transitions: VideoTransitions;
    logger: Logger;
    metrics: Metrics;
    contact: EngineContact;
    limits: { maxBytes: number; leaseSeconds: number };
    testVideoHours: number;
  }) {
    this.#db = deps.db;
    this.#videos = deps.videos;
    this.#transitions = deps.transitions;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#contact = deps.contact;
    this.#limits = deps.limits;
    this.#testVideoHours = deps.testVideoHours;
  }

  /** Creates a video and the ticket for its upload. Throws 413 when the size told is over the limit. */
  async issue(request: TicketRequest, noteOutcome: NoteOutcome<Ticket>): Promise<Ticket> {
    if (request.size !== undefined && request.size > this.#limits.maxBytes) throw this.#tooLarge();
    const videoId = newId('vid');
    const uploadToken = newUploadToken();
    const removeAt = request.environment === 'test' ? inHours(this.#testVideoHours) : null;
    const expiresAt = earliest(new Date(Date.now() + request.expiresInSeconds * 1000), removeAt);
    const ticket = { videoId, uploadToken, expiresAt, maxBytes: this.#limits.maxBytes };
    await this.#db.transaction().execute(async (trx) => {
      await this.#videos.create(trx, {
        id: videoId,
        workspace_id: request.workspaceId,
        environment: request.environment,
        status: 'uploading',
        filename: request.filename,
        title: request.title ?? request.filename.replace(/\.[^.]*$/, ''),
        metadata: JSON.stringify(request.metadata ?? {}),
        tags: request.tags ?? [],
        passthrough: request.passthrough ?? null,
        playback_policy: request.playbackPolicy ?? 'public',
        remove_at: removeAt,
      });
      await insertTicket(trx, {
        video_id: videoId,
        token_hash: hashUploadToken(uploadToken),
        expires_at: expiresAt,
      });
      await noteOutcome(trx, ticket);
    });
    return ticket;
  }

  /**
   * A new token for the ticket of a video that still waits for its file; the one before is worth nothing from now on. A
   * transfer that began with it goes on. Throws 409 `upload_ticket_closed` when no upload can begin any more.
   */
  async replaceToken(workspaceId: string, videoId: string): Promise<string> {
    const uploadToken = newUploadToken();
    if (await replaceToken(this.#db, { workspaceId, videoId }, hashUploadToken(uploadToken)))
      return uploadToken;
    throw new Problem(
      409,
      'upload_ticket_closed',
      `The ticket of video ${videoId} takes no upload any more. Look at the video to see why.`,
      { extra: { videoId } },
    );
  }

  /** Leases the ticket behind a token to a new transfer, or throws the Problem that says why not. */
  async redeem({ token, contentLength }: RedeemTicketRequest): Promise<RedeemTicketResponse> {
    const tokenHash = hashUploadToken(token);
    const ticket = requireUsable(await findTicketByHash(this.#db, tokenHash), new Date());
    if (contentLength !== null && contentLength > this.#limits.maxBytes + MULTIPART_OVERHEAD_BYTES) {
      throw this.#tooLarge();
    }
    const transferId = newId('xfr');
    if (!(await leaseTicket(this.#db, tokenHash, transferId, this.#limits.leaseSeconds))) {
      // Somebody was faster between the look and the lease.
      requireUsable(await findTicketByHash(this.#db, tokenHash), new Date());
      throw uploadInProgress();
    }
    return {
      videoId: ticket.video_id,
      workspaceId: ticket.workspace_id,
      transferId,
      sourceKey: sourceKey(ticket.workspace_id, ticket.video_id, transferId),
      ...this.#limits,
    };
  }

  /** A transfer broke; its token may be used again. */
  async release(transfer: Transfer): Promise<void> {
    await releaseTicket(this.#db, transfer);
  }

  /** A transfer is alive. */
  async renew(transfer: Transfer): Promise<void> {
    await renewLease(this.#db, transfer, this.#limits.leaseSeconds);
  }

  /** Whether the transfer should go on. */
  async isWanted(transfer: Transfer): Promise<boolean> {
    return holdsLease(this.#db, transfer);
  }

  /** Spends the ticket and moves its video on, once; a repeated or stale report changes nothing. */
  async complete(upload: MessageData<'upload.completed'>): Promise<void> {
    const taken = await this.#db.transaction().execute(async (trx) => {
      const video = await this.#transitions.lock(trx, upload.videoId);
      if (video === undefined || !(await spendTicket(trx, upload))) {
        this.#logger.info('upload.completion_ignored', { ...upload });
        await this.#transitions.discard(trx, upload.videoId);
        return false;
      }
      const begun = await this.#transitions.beginProcessing(trx, video, upload);
      // It failed meanwhile: the file came after its purge.
      if (!begun) await this.#transitions.discard(trx, video.id);
      return begun;
    });
    if (taken) this.#metrics.uploadCompleted();
  }

  /** Fails the videos whose ticket ran out unused. Safe to run on several instances. */
  async expireUnused(): Promise<void> {
    const transfers = this.#contact.hasLasted(this.#limits.leaseSeconds) ? 'are_over' : 'may_live';
    await settleEach(await findExpiredTickets(this.#db, transfers, EXPIRY_BATCH), async (videoId) => {
      const failed = await this.#db.transaction().execute(async (trx) => {
        const video = await this.#transitions.lock(trx, videoId);
        // A transfer may have reported since.
        const isExpired = video?.status === 'uploading' && (await isTicketExpired(trx, transfers, videoId));
        if (!isExpired) return false;
        return this.#transitions.fail(trx, video, {
          code: 'upload_expired',
          message: 'No file arrived before the upload ticket expired.',
        });
      });
      if (failed) this.#metrics.videoFailed('upload_expired');
    });
  }

  #tooLarge(): Problem {
    const { maxBytes } = this.#limits;
    return new Problem(413, 'file_too_large', `Files may have at most ${maxBytes} bytes.`, {
      extra: { maxBytes },
    });
  }
}

function inHours(hours: number): Date {
  return new Date(Date.now() + hours * 3_600_000);
}

function earliest(time: Date, limit: Date | null): Date {
  return limit !== null && limit < time ? limit : time;
}

/** The ticket, if it can be leased now; throws the Problem that says why it cannot. */
export function requireUsable<T extends UploadTicketRow>(ticket: T | undefined, now: Date): T {
  if (ticket === undefined) {
    throw new Problem(
      401,
      'upload_token_invalid',
      'This upload token does not exist. Request a new upload ticket.',
    );
  }
  if (ticket.used_at !== null) {
    throw new Problem(
      401,
      'upload_token_used',
      'This upload token has been used. Request a new upload ticket.',
    );
  }
  if (ticket.lease_expires_at !== null && ticket.lease_expires_at > now) throw uploadInProgress();
  if (ticket.expires_at <= now) {
    throw new Problem(
      401,
      'upload_token_expired',
      'This upload token has expired. Request a new upload ticket.',
    );
  }
  return ticket;
}

function uploadInProgress(): Problem {
  return new Problem(409, 'upload_in_progress', 'Another upload with this token is under way.');
}
