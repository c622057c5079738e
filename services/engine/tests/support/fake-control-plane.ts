import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { newId } from '@framelane/contracts/ids';
import {
  type ClaimAttemptResponse,
  type CompleteTransferRequest,
  checkAttemptRequest,
  checkTransferRequest,
  claimAttemptRequest,
  completeTransferRequest,
  INTERNAL_PATHS,
  redeemTicketRequest,
  releaseTransferRequest,
} from '@framelane/contracts/internal-api';
import type { Message } from '@framelane/contracts/messages';
import { sourceKey } from '@framelane/object-store/object-keys';

export const SERVICE_SECRET = 'a service secret for tests, long enough';

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
  /** Its video failed because it expired. */
  failed: boolean;
  deleted: boolean;
  /** Its workspace has reached its limit of concurrent uploads. */
  crowded: boolean;
  /** Its workspace has no room for the file. */
  overQuota: boolean;
};

type Reply = { status: number; body?: object; retryAfter?: string };

/** What the control plane says of an exceeded quota. */
export const QUOTA_FIGURES = { quota: 'storedBytes', limit: 1000, used: 900, requested: 200 };

/** The internal API over HTTP, with the rules of the control plane. Its state is public. */
export class FakeControlPlane {
  readonly #server: Server;
  readonly #tickets = new Map<string, FakeTicket>();
  /** Registered uploads, each once. */
  readonly completions: CompleteTransferRequest[] = [];
  /** Bodies of the release requests. */
  readonly releases: { videoId: string; transferId: string; reason: string }[] = [];
  /** Paths of all requests, in order. */
  readonly requests: string[] = [];
  /** Paths that respond with 503. */
  readonly broken = new Set<string>();
  /** How many of the next completions get no response. */
  losesResponses = 0;
  /** Attempts that can be claimed, by video. Each can be claimed once and is current from then on. */
  readonly claimable = new Map<string, ClaimAttemptResponse>();
  readonly #claimed = new Set<string>();
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
    this.requests.push(path);
    await this.gate;
    const reply = this.broken.has(path)
      ? refusal(503, 'unavailable')
      : req.headers.authorization === `Bearer ${SERVICE_SECRET}`
        ? this.#respond(path, body)
        : refusal(401, 'invalid_service_secret');
    if (path === INTERNAL_PATHS.completeTransfer && this.losesResponses > 0) {
      this.losesResponses -= 1;
      req.socket.destroy();
      return;
    }
    if (reply.retryAfter !== undefined) res.setHeader('Retry-After', reply.retryAfter);
    res.writeHead(reply.status, { 'Content-Type': 'application/json' });
    res.end(reply.body && JSON.stringify(reply.body));
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
      case INTERNAL_PATHS.claimAttempt:
        return this.#claim(claimAttemptRequest.parse(body).videoId);
      case INTERNAL_PATHS.checkAttempt:
        return { status: 200, body: { current: this.#claimed.has(checkAttemptRequest.parse(body).videoId) } };
      default:
        return refusal(404, 'route_not_found');
    }
  }

  #claim(videoId: string): Reply {
    const claim = this.claimable.get(videoId);
    if (claim === undefined) return refusal(409, 'attempt_not_claimable');
    this.claimable.delete(videoId);
    this.#claimed.add(videoId);
    return { status: 200, body: claim };
  }

  #redeem(body: unknown): Reply {
    const { token, contentLength } = redeemTicketRequest.parse(body);
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
    return { status: 204 };
  }

  #release(body: unknown): Reply {
    const release = releaseTransferRequest.parse(body);
    this.releases.push(release);
    const ticket = this.#leasedTo(release);
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
  const body = { type: 'about:blank', title: code, status, detail: `Told so: ${code}.`, code, ...extra };
  return { status, body: { ...body, instance: '/internal', requestId: 'req_internal' } };
}
