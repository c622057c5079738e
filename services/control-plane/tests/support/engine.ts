import {
  type ClaimAttemptResponse,
  INTERNAL_PATHS,
  type RedeemTicketResponse,
} from '@framelane/contracts/internal-api';
import type { Manifest } from '@framelane/contracts/manifest';
import { createMessage, type MessageData, type MessageType } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { sampleManifest } from './manifest.ts';

/** An engine under the control of a test: calls the internal API and reports events. */
export class SimulatedEngine {
  readonly internalUrl: string;
  readonly #secret: string;
  readonly #bus: MessageBus;

  constructor(deps: { internalUrl: string; secret: string; bus: MessageBus }) {
    this.internalUrl = deps.internalUrl;
    this.#secret = deps.secret;
    this.#bus = deps.bus;
  }

  /** Sends a request to the internal API; resolves with status and body. Bytes are sent as they are. */
  async request(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.internalUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#secret}`, 'content-type': 'application/json' },
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }

  async redeem(token: string): Promise<RedeemTicketResponse> {
    return this.#expect(INTERNAL_PATHS.redeemTicket, { token, contentLength: null, clientAddress: null });
  }

  async claim(videoId: string): Promise<ClaimAttemptResponse> {
    return this.#expect(INTERNAL_PATHS.claimAttempt, { videoId });
  }

  /** Reports an event; resolves when the control plane has applied it. */
  async report<T extends MessageType>(type: T, data: MessageData<T>): Promise<void> {
    await this.#bus.publish(createMessage(type, data) as Parameters<MessageBus['publish']>[0]);
  }

  /** Pretends to upload 1 MB: redeems the token and reports the transfer as complete. */
  async upload(token: string): Promise<RedeemTicketResponse> {
    const transfer = await this.redeem(token);
    await this.report('upload.completed', {
      videoId: transfer.videoId,
      transferId: transfer.transferId,
      bytes: 1_000_000,
      sha256: 'ab'.repeat(32),
    });
    return transfer;
  }

  async complete(videoId: string, attempt: number, manifest: Manifest = sampleManifest()): Promise<void> {
    await this.report('transcode.completed', { videoId, attempt, manifest });
  }

  async #expect<T>(path: string, request: unknown): Promise<T> {
    const { status, body } = await this.request(path, request);
    if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`);
    return body as T;
  }
}
