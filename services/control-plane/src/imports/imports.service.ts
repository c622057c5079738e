import { IMPORT_FAILURES, type ImportFailureCode } from '@framelane/contracts/failures';
import type {
  ClaimedImport,
  ClaimImportRequest,
  EndImportTryRequest,
  ImportProgressRequest,
  ImportTryFailure,
} from '@framelane/contracts/internal-api';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { Commit, Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TicketRequest, UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import type { VideosService } from '../videos/videos.service.ts';
import { type ImportSource, shownUrl } from './import-request.ts';
import {
  beginTransfer,
  claimDueImport,
  type DueImport,
  findExpiredImports,
  findImportBacklog,
  findOtherWaiting,
  insertImport,
  postpone,
  releaseAllClaims,
  storeEndOfTry,
  storeProgress,
} from './imports.store.ts';

/** The most imports that one claim postpones or ends before it gives up, and workspaces that a check looks at. */
const CLAIM_ATTEMPTS = 10;

/** Pause before the next claim of an import whose workspace has too many uploads in progress. */
const SHARE_PAUSE_SECONDS = 10;

/** The ticket of an import outlasts the import, so that a video fails with the code of the import. */
const TICKET_MARGIN_SECONDS = 3600;

/** Imports handled in one run of `expire`. */
const EXPIRY_BATCH = 100;

/** Messages for failures that the remote server did not cause. */
const OWN_FAILURES = {
  storage_failed: 'The file could not be stored.',
  internal_error: 'The file could not be imported because of a fault on our side.',
} as const;

const MESSAGES: Readonly<Record<ImportTryFailure, string>> = { ...IMPORT_FAILURES, ...OWN_FAILURES };

/** What a client wants to import. */
export type ImportRequest = Omit<TicketRequest, 'size' | 'expiresInSeconds'> & { source: ImportSource };

type Deps = {
  db: Database;
  tickets: UploadTicketsService;
  videos: VideosService;
  lifecycle: VideoLifecycle;
  logger: Logger;
  metrics: Metrics;
  leaseGrace: LeaseGrace;
  sealingKeys: SealingKeys;
  limits: { timeoutSeconds: number; leaseSeconds: number };
};

/**
 * Imports: files that an engine fetches. The row of an import is its queue entry: engines claim due rows, and the transfer id of
 * the latest claim fences off older ones (ADR 29). Each import has an upload ticket whose token nobody knows, so the limits and
 * the completion of uploads apply to it.
 */
export class ImportsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Creates a video and makes its import due. */
  async create({ source, ...request }: ImportRequest): Promise<Commit<VideoRecord>> {
    const { timeoutSeconds } = this.#deps.limits;
    const sealed = await this.#deps.sealingKeys.seal(Buffer.from(JSON.stringify(source)));
    const issue = await this.#deps.tickets.issue({
      ...request,
      size: undefined,
      expiresInSeconds: timeoutSeconds + TICKET_MARGIN_SECONDS,
    });
    return async (trx) => {
      const { videoId } = await issue(trx);
      await insertImport(trx, { videoId, shownUrl: shownUrl(source.url), request: sealed }, timeoutSeconds);
      return this.#deps.videos.read(trx, request.workspaceId, videoId);
    };
  }

  /** Claims an import that is due, with a new transfer. A repeat of the claim gets the same one. Null if none is due. */
  async claim({ claimId }: ClaimImportRequest): Promise<ClaimedImport | null> {
    const { leaseSeconds } = this.#deps.limits;
    // Each of a workspace without room would be postponed, and there can be any number of them.
    const except: string[] = [];
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
      const due = await claimDueImport(this.#deps.db, { claimId, leaseSeconds, except }, this.#expiredClaims);
      if (due === undefined) return null;
      const claimed = await this.#begin(due, claimId);
      if (claimed === 'no_room') except.push(due.workspace);
      else if (claimed !== null) return claimed;
    }
    return null;
  }

  /** Whether an import waits whose workspace has fewer running imports than this one, and room for an upload. */
  async doesOtherWait(workspaceId: string): Promise<boolean> {
    const except: string[] = [];
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
      const expiredClaims = this.#expiredClaims;
      const other = await findOtherWaiting(this.#deps.db, workspaceId, { expiredClaims, except });
      if (other === undefined) return false;
      if (await this.#deps.tickets.hasRoomForImport(other)) return true;
      except.push(other);
    }
    return false;
  }

  /** Stores the progress of a transfer and renews its lease. Resolves with whether the transfer is current. */
  async progress(request: ImportProgressRequest): Promise<boolean> {
    if (!(await storeProgress(this.#deps.db, request, this.#deps.limits.leaseSeconds))) return false;
    await this.#deps.tickets.renew(request);
    return true;
  }

  /** Ends a try without a file: the import is due again, or the video fails. Does nothing if another transfer is current. */
  async endTry(end: EndImportTryRequest): Promise<void> {
    const { videoId, failure, retryInSeconds } = end;
    const outcome = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      if (video === undefined) return 'ignored';
      if (!(await storeEndOfTry(trx, end))) return 'ignored';
      if (retryInSeconds !== null) return 'due_again';
      const code = failure ?? 'internal_error';
      await this.#deps.lifecycle.fail(trx, video, { code, message: MESSAGES[code] });
      return 'failed';
    });
    this.#deps.logger.info('import.try_ended', { ...end, outcome });
    if (outcome === 'ignored') return;
    await this.#deps.tickets.release(end);
    if (outcome === 'failed') this.#deps.metrics.videoFailed(failure ?? 'internal_error');
  }

  /** Fails the videos whose import is not complete at its deadline. Safe on several instances. */
  async expire(): Promise<void> {
    const expired = await findExpiredImports(this.#deps.db, EXPIRY_BATCH);
    await forEachSettled(expired, (videoId) => this.#fail(videoId, 'import_timed_out'));
  }

  /** Makes claimed imports due now. Call it only while no engine runs. */
  async releaseClaims(): Promise<void> {
    await releaseAllClaims(this.#deps.db);
  }

  /** The imports that wait for an engine, and those that an engine fetches. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findImportBacklog(this.#deps.db);
  }

  get #expiredClaims(): 'ended' | 'may_live' {
    return this.#deps.leaseGrace.hasPassed(this.#deps.limits.leaseSeconds) ? 'ended' : 'may_live';
  }

  /** Fails the video of an import that no transfer can complete. */
  async #fail(videoId: string, code: ImportFailureCode): Promise<void> {
    const failed = await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      if (video?.status !== 'uploading') return false;
      return this.#deps.lifecycle.fail(trx, video, { code, message: MESSAGES[code] });
    });
    if (failed) this.#deps.metrics.videoFailed(code);
  }

  /**
   * Leases the ticket of a claimed import. Resolves with `no_room` if the workspace has too many uploads; null if it has used up a quota,
   * or if the video no longer accepts a file.
   */
  async #begin(due: DueImport, claimId: string): Promise<ClaimedImport | 'no_room' | null> {
    const { videoId, request, transferId, secondsLeft, tries, startedOver } = due;
    if (transferId !== null) await this.#deps.tickets.release({ videoId, transferId });
    try {
      const lease = await this.#deps.tickets.redeemForImport(videoId, claimId);
      await beginTransfer(this.#deps.db, { videoId, transferId: lease.transferId });
      const source: ImportSource = JSON.parse((await this.#deps.sealingKeys.open(request)).toString());
      return { ...lease, secondsLeft, tries, startedOver, ...source };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // The workspace has too many uploads. Or the video was deleted or has its file: then its import has ended and is due no more.
      await postpone(this.#deps.db, videoId, SHARE_PAUSE_SECONDS);
      if (error.code === 'quota_exceeded') await this.#fail(videoId, 'import_quota_exceeded');
      else this.#deps.logger.debug('import.postponed', { videoId, code: error.code });
      return error.code === 'too_many_uploads' ? 'no_room' : null;
    }
  }
}
