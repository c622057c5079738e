import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { newId } from '@framelane/contracts/ids';
import {
  type AnnounceEngineRequest,
  announceEngineRequest,
  type ClaimedImport,
  type ClaimTaskResponse,
  type CompleteTransferRequest,
  checkImportsRequest,
  checkTaskRequest,
  checkTransferRequest,
  claimTaskRequest,
  completeTransferRequest,
  createResumableRequest,
  type EndImportTryRequest,
  endImportTryRequest,
  type ImportProgressRequest,
  INTERNAL_PATHS,
  importProgressRequest,
  openResumableRequest,
  type RedeemTicketRequest,
  type ReleaseTransferRequest,
  redeemTicketRequest,
  releaseTransferRequest,
  type SaveResumableRequest,
  saveResumableRequest,
  storePlanRequest,
  terminateResumableRequest,
} from '@framelane/contracts/internal-api';
import type { Message } from '@framelane/contracts/messages';
import { sourceKey } from '@framelane/object-store/object-keys';

export const SERVICE_SECRET = 'a service secret for tests, long enough';

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();

const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** A ticket in the control plane. */
export type FakeTicket = {
  token: string;
  videoId: string;
  workspaceId: string;
  maxBytes: number;
  leaseSeconds: number;
  /** The transfer it is leased to. */
  transferId: string | null;
  /** The object keys of its transfers, the latest last. */
  sources: string[];
  used: boolean;
  expired: boolean;
  /** Its video failed because the ticket expired. */
  failed: boolean;
  deleted: boolean;
  /** Its workspace has reached its limit of concurrent uploads. */
  crowded: boolean;
  /** Its workspace has no room for the file. */
  overQuota: boolean;
};

/** A resumable upload of a ticket. */
type FakeResumable = {
  transferId: string;
  ticket: FakeTicket;
  length: number;
  metadata: string;
  epoch: number;
  checkpoint: SaveResumableRequest['checkpoint'] | null;
  end: 'completed' | 'terminated' | null;
};

type Reply = { status: number; body?: object; retryAfter?: string };

/** The control plane's figures for an exceeded quota. */
export const QUOTA_FIGURES = { quota: 'storedBytes', limit: 1000, used: 900, requested: 200 };

/** The internal API over HTTP, with the rules of the control plane. Its state is public. */
export class FakeControlPlane {
  readonly #server: Server;
  readonly #tickets = new Map<string, FakeTicket>();
  readonly resumables = new Map<string, FakeResumable>();
  /** Registered uploads, each once. */
  readonly completions: CompleteTransferRequest[] = [];
  /** Bodies of the requests that redeem a ticket. */
  readonly redemptions: RedeemTicketRequest[] = [];
  /** Bodies of the release requests. */
  readonly releases: ReleaseTransferRequest[] = [];
  /** Paths of all requests in order, without the claims of imports and the announcements, which engines send all the time. */
  readonly requests: string[] = [];
  /** Paths that respond with 503. */
  readonly broken = new Set<string>();
  /** How many of the next claims that get something have no response. A repeat with the same id gets it. */
  losesClaims = 0;
  readonly #claims = new Map<string, Reply>();
  /** How many of the next completions get no response. */
  losesResponses = 0;
  /** Tries that can be claimed, by video. Each can be claimed once and is current from then on. */
  readonly claimable = new Map<string, ClaimTaskResponse>();
  readonly #claimed = new Set<string>();
  /** Imports that are due; each is current from its claim to the end of its try. */
  readonly imports: ClaimedImport[] = [];
  readonly currentImports = new Set<string>();
  /** The latest progress of each import, by transfer, and how the tries ended. */
  readonly importProgress = new Map<string, ImportProgressRequest>();
  readonly endedTries: EndImportTryRequest[] = [];
  readonly announcements: AnnounceEngineRequest[] = [];
  /** No request gets a response before this resolves. */
  gate: Promise<void> = Promise.resolve();

  static async start(): Promise<FakeControlPlane> {
    const fake = new FakeControlPlane();
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    return fake;
  }

  private constructor() {
    this.#server = createServer((req, res) => void this.#handle(req, res));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  issue(options: Partial<FakeTicket> = {}): FakeTicket {
    const videoId = newId('vid');
    const ticket = {
      token: `ut_${videoId}`,
      videoId,
      workspaceId: newId('ws'),
      maxBytes: 1024 ** 3,
      leaseSeconds: 60,
      transferId: null,
      sources: [],
      used: false,
      expired: false,
      failed: false,
      deleted: false,
      crowded: false,
      overQuota: false,
      ...options,
    };
    this.#tickets.set(ticket.token, ticket);
    return ticket;
  }

  /** Makes an import due. Its ticket is leased to it. */
  import(url: string, options: Partial<ClaimedImport> = {}): ClaimedImport {
    const transferId = newId('xfr');
    const { videoId, workspaceId, maxBytes, leaseSeconds } = this.issue({ transferId });
    const claimed = {
      videoId,
      workspaceId,
      transferId,
      maxBytes,
      leaseSeconds,
      url,
      sourceKey: sourceKey(workspaceId, videoId, transferId),
      headers: {},
      tries: 0,
      startedOver: false,
      secondsLeft: 3600,
      ...options,
    };
    this.imports.push(claimed);
    return claimed;
  }

  /** Applies an event of an engine. */
  apply({ type, data }: Message): void {
    if (type === 'upload.completed') this.#complete(data);
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? '';
    const body = await json(req);
    if (path !== INTERNAL_PATHS.claimImport && path !== INTERNAL_PATHS.announceEngine)
      this.requests.push(path);
    await this.gate;
    const reply = this.broken.has(path)
      ? refusal(503, 'unavailable')
      : req.headers.authorization === `Bearer ${SERVICE_SECRET}`
        ? this.#repeatable(path, body)
        : refusal(401, 'invalid_service_secret');
    if (path === INTERNAL_PATHS.completeTransfer && this.losesResponses > 0) {
      this.losesResponses -= 1;
      req.socket.destroy();
      return;
    }
    if (this.losesClaims > 0 && [...this.#claims.values()].includes(reply)) {
      this.losesClaims -= 1;
      req.socket.destroy();
      return;
    }
    if (reply.retryAfter !== undefined) res.setHeader('Retry-After', reply.retryAfter);
    res.writeHead(reply.status, { 'Content-Type': 'application/json' });
    res.end(reply.body && JSON.stringify(reply.body));
  }

  /** A claim gets the same reply each time. */
  #repeatable(path: string, body: unknown): Reply {
    const { claimId } = body as { claimId?: string };
    const reply = this.#claims.get(claimId ?? '') ?? this.#respond(path, body);
    const hasGot =
      reply.status === 200 && !(reply.body && 'import' in reply.body && reply.body.import === null);
    if (claimId !== undefined && hasGot) this.#claims.set(claimId, reply);
    return reply;
  }

  #respond(path: string, body: unknown): Reply {
    switch (path) {
      case INTERNAL_PATHS.redeemTicket:
        return this.#redeem(body);
      case INTERNAL_PATHS.completeTransfer:
        return this.#complete(completeTransferRequest.parse(body));
      case INTERNAL_PATHS.releaseTransfer:
        return this.#release(body);
      case INTERNAL_PATHS.checkTransfer: {
        const ticket = this.#leasedTo(checkTransferRequest.parse(body));
        return {
          status: 200,
          body: { current: ticket !== undefined && !ticket.deleted && !ticket.failed && !ticket.used },
        };
      }
      case INTERNAL_PATHS.createResumable:
        return this.#createResumable(body);
      case INTERNAL_PATHS.openResumable:
        return this.#openResumable(body);
      case INTERNAL_PATHS.saveResumable:
        return this.#saveResumable(body);
      case INTERNAL_PATHS.terminateResumable:
        return this.#terminateResumable(body);
      case INTERNAL_PATHS.checkImports: {
        const { workspaceId } = checkImportsRequest.parse(body);
        return {
          status: 200,
          body: { waiting: this.imports.some((each) => each.workspaceId !== workspaceId) },
        };
      }
      case INTERNAL_PATHS.claimImport: {
        const claimed = this.imports.shift() ?? null;
        if (claimed !== null) this.currentImports.add(claimed.transferId);
        return { status: 200, body: { import: claimed } };
      }
      case INTERNAL_PATHS.importProgress: {
        const progress = importProgressRequest.parse(body);
        this.importProgress.set(progress.transferId, progress);
        return { status: 200, body: { current: this.currentImports.has(progress.transferId) } };
      }
      case INTERNAL_PATHS.endImportTry: {
        const end = endImportTryRequest.parse(body);
        this.currentImports.delete(end.transferId);
        this.endedTries.push(end);
        return { status: 204 };
      }
      case INTERNAL_PATHS.claimTask:
        return this.#claim(claimTaskRequest.parse(body).videoId);
      case INTERNAL_PATHS.storePlan: {
        const { videoId } = storePlanRequest.parse(body);
        return this.#claimed.has(videoId) ? { status: 204 } : refusal(409, 'plan_not_current');
      }
      case INTERNAL_PATHS.checkTask:
        return { status: 200, body: { current: this.#claimed.has(checkTaskRequest.parse(body).videoId) } };
      case INTERNAL_PATHS.announceEngine:
        this.announcements.push(announceEngineRequest.parse(body));
        return { status: 204 };
      default:
        return refusal(404, 'route_not_found');
    }
  }

  #claim(videoId: string): Reply {
    const claim = this.claimable.get(videoId);
    if (claim === undefined) return refusal(409, 'task_not_claimable');
    this.claimable.delete(videoId);
    this.#claimed.add(videoId);
    return { status: 200, body: claim };
  }

  #createResumable(body: unknown): Reply {
    const { token, length, metadata } = createResumableRequest.parse(body);
    const ticket = this.#tickets.get(token);
    if (!ticket || ticket.deleted) return refusal(401, 'upload_token_invalid');
    if (ticket.used) return refusal(401, 'upload_token_used');
    if (ticket.expired) return refusal(401, 'upload_token_expired');
    if (length > ticket.maxBytes) return refusal(413, 'file_too_large', { maxBytes: ticket.maxBytes });
    if (ticket.overQuota) return refusal(403, 'quota_exceeded', QUOTA_FIGURES);
    const unfinished = [...this.resumables.values()].find(
      (upload) => upload.ticket === ticket && upload.end === null,
    );
    const created = (transferId: string): Reply => {
      const url = `http://engine.framelane.test/files/${transferId}`;
      return { status: 200, body: { transferId, url, expiresAt: IN_AN_HOUR } };
    };
    if (unfinished?.length === length && unfinished.metadata === metadata)
      return created(unfinished.transferId);
    if (ticket.transferId) return refusal(409, 'upload_in_progress');
    if (unfinished) unfinished.end = 'terminated';
    const transferId = newId('xfr');
    this.resumables.set(transferId, {
      transferId,
      ticket,
      length,
      metadata,
      epoch: 0,
      checkpoint: null,
      end: null,
    });
    return created(transferId);
  }

  #openResumable(body: unknown): Reply {
    const { token, transferId, epoch } = openResumableRequest.parse(body);
    const upload = this.#resumable(token, transferId);
    if (!this.#tickets.has(token)) return refusal(401, 'upload_token_invalid');
    if (!upload) return refusal(404, 'upload_not_found');
    const { ticket, length, metadata, checkpoint, end } = upload;
    if (end === 'completed') return { status: 200, body: { status: 'complete', length, metadata } };
    if (end || ticket.used || ticket.deleted || ticket.expired) return refusal(410, 'upload_ended');
    if (ticket.crowded) return { ...refusal(429, 'too_many_uploads'), retryAfter: '10' };
    if (ticket.transferId && ticket.transferId !== transferId) return refusal(409, 'upload_in_progress');
    ticket.transferId = transferId;
    if (epoch !== upload.epoch) upload.epoch += 1;
    const { videoId, workspaceId, leaseSeconds } = ticket;
    const source = sourceKey(workspaceId, videoId, transferId);
    if (!ticket.sources.includes(source)) ticket.sources.push(source);
    return {
      status: 200,
      body: {
        status: 'open',
        length,
        metadata,
        videoId,
        workspaceId,
        sourceKey: source,
        epoch: upload.epoch,
        checkpoint,
        leaseSeconds,
        expiresAt: IN_AN_HOUR,
      },
    };
  }

  #saveResumable(body: unknown): Reply {
    const { transferId, epoch, checkpoint } = saveResumableRequest.parse(body);
    const upload = this.resumables.get(transferId);
    const isHeld = upload?.epoch === epoch && upload.ticket.transferId === transferId;
    if (!isHeld || upload.end || upload.ticket.deleted) return refusal(409, 'transfer_lost');
    upload.checkpoint = checkpoint;
    return { status: 200, body: { expiresAt: IN_AN_HOUR } };
  }

  #terminateResumable(body: unknown): Reply {
    const { token, transferId } = terminateResumableRequest.parse(body);
    if (!this.#tickets.has(token)) return refusal(401, 'upload_token_invalid');
    const upload = this.#resumable(token, transferId);
    if (!upload) return refusal(404, 'upload_not_found');
    if (upload.end === 'completed') return refusal(403, 'upload_complete');
    if (upload.end) return refusal(410, 'upload_ended');
    upload.end = 'terminated';
    const { ticket, checkpoint } = upload;
    ticket.transferId = null;
    return {
      status: 200,
      body: { sourceKey: sourceKey(ticket.workspaceId, ticket.videoId, transferId), checkpoint },
    };
  }

  #resumable(token: string, transferId: string): FakeResumable | undefined {
    const upload = this.resumables.get(transferId);
    return upload?.ticket.token === token ? upload : undefined;
  }

  #redeem(body: unknown): Reply {
    const redemption = redeemTicketRequest.parse(body);
    this.redemptions.push(redemption);
    const { token, contentLength } = redemption;
    const ticket = this.#tickets.get(token);
    if (!ticket || ticket.deleted) return refusal(401, 'upload_token_invalid');
    if (ticket.used) return refusal(401, 'upload_token_used');
    if (ticket.transferId) return refusal(409, 'upload_in_progress');
    if (ticket.expired) return refusal(401, 'upload_token_expired');
    const { videoId, workspaceId, maxBytes, leaseSeconds } = ticket;
    if (contentLength !== null && contentLength > maxBytes + MULTIPART_OVERHEAD_BYTES) {
      return refusal(413, 'file_too_large', { maxBytes });
    }
    if (ticket.overQuota) return refusal(403, 'quota_exceeded', QUOTA_FIGURES);
    if (ticket.crowded) return { ...refusal(429, 'too_many_uploads'), retryAfter: '10' };
    const transferId = newId('xfr');
    ticket.transferId = transferId;
    const source = sourceKey(workspaceId, videoId, transferId);
    ticket.sources.push(source);
    return {
      status: 200,
      body: { videoId, workspaceId, transferId, sourceKey: source, maxBytes, leaseSeconds },
    };
  }

  #complete(upload: CompleteTransferRequest): Reply {
    const ticket = this.#leasedTo(upload);
    if (!ticket || ticket.deleted) return refusal(409, 'upload_cancelled');
    if (ticket.failed) return refusal(401, 'upload_token_expired');
    if (!ticket.used) this.completions.push(upload);
    ticket.used = true;
    const resumable = this.resumables.get(upload.transferId);
    if (resumable) resumable.end = 'completed';
    return { status: 204 };
  }

  #release(body: unknown): Reply {
    const release = releaseTransferRequest.parse(body);
    this.releases.push(release);
    const ticket = this.#leasedTo(release);
    const resumable = this.resumables.get(release.transferId);
    if (resumable && resumable.epoch !== release.epoch) return { status: 204 };
    if (ticket && !ticket.used) ticket.transferId = null;
    return { status: 204 };
  }

  #leasedTo(transfer: { videoId: string; transferId: string }): FakeTicket | undefined {
    return [...this.#tickets.values()].find(
      (ticket) => ticket.videoId === transfer.videoId && ticket.transferId === transfer.transferId,
    );
  }
}

function refusal(status: number, code: string, extra: object = {}): Reply {
  const body = { type: 'about:blank', title: code, status, detail: `Refused: ${code}.`, code, ...extra };
  return { status, body: { ...body, instance: '/internal', requestId: 'req_internal' } };
}
