import { randomUUID } from 'node:crypto';
import {
  type ClaimedPlanning,
  INTERNAL_PATHS,
  type RedeemTicketResponse,
} from '@framelane/contracts/internal-api';
import {
  createMessage,
  type MessageData,
  type MessageType,
  type TaskTry,
} from '@framelane/contracts/messages';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { type MadeVideo, planOf, resultOfWhole, sampleManifest } from './manifest.ts';

/** How a try fails; by default for a reason that another try cannot avoid. */
type Failure = Partial<Pick<MessageData<'task.failed'>, 'code' | 'message' | 'retryable'>>;

const CLAIMS: readonly string[] = [
  INTERNAL_PATHS.redeemTicket,
  INTERNAL_PATHS.openResumable,
  INTERNAL_PATHS.claimImport,
  INTERNAL_PATHS.claimTask,
];

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

  /** Sends a request to the internal API; resolves with status and body. Bytes are sent as they are. A claim without an id gets a new one. */
  async request(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.internalUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#secret}`, 'content-type': 'application/json' },
      body:
        body instanceof Uint8Array ? body : JSON.stringify(CLAIMS.includes(path) ? withClaimId(body) : body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }

  async redeem(token: string): Promise<RedeemTicketResponse> {
    return this.#expect(INTERNAL_PATHS.redeemTicket, { token, contentLength: null, clientAddress: null });
  }

  /** Claims the planning of a video, which begins an attempt. */
  async claim(videoId: string): Promise<ClaimedPlanning> {
    return this.#expect(INTERNAL_PATHS.claimTask, { videoId, command: 'plan', planVersion: PLAN_VERSION });
  }

  /** Stores the plan of an attempt. Resolves with the status of the response. */
  async storePlan(videoId: string, attempt: number, plan: TranscodePlan): Promise<number> {
    const request = { ...firstTry(videoId, attempt), plan };
    return (await this.request(INTERNAL_PATHS.storePlan, request)).status;
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

  /** Completes an attempt as the engine of a short video does: stores a plan without tasks, unless the attempt has ended, and reports the result. */
  async complete(videoId: string, attempt: number, manifest: MadeVideo = sampleManifest()): Promise<void> {
    await this.storePlan(videoId, attempt, planOf(manifest));
    await this.report('task.completed', { ...firstTry(videoId, attempt), result: resultOfWhole(manifest) });
  }

  /** Reports the progress of the first task of an attempt. */
  async progress(videoId: string, attempt: number, fraction: number): Promise<void> {
    await this.report('task.progress', { ...firstTry(videoId, attempt), fraction, startedRenditions: {} });
  }

  /** Fails the first task of an attempt. */
  async fail(videoId: string, attempt: number, failure: Failure = {}): Promise<void> {
    await this.report('task.failed', {
      ...firstTry(videoId, attempt),
      code: 'not_a_video',
      message: 'What went wrong.',
      retryable: false,
      ...failure,
    });
  }

  async #expect<T>(path: string, request: object): Promise<T> {
    const { status, body } = await this.request(path, request);
    if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`);
    return body as T;
  }
}

function withClaimId(claim: { claimId?: string }): object {
  return { ...claim, claimId: claim.claimId ?? randomUUID() };
}

/** The only try of the first task of an attempt: its failure ends the attempt. */
export function firstTry(videoId: string, attempt: number): TaskTry {
  return { videoId, attempt, task: PLANNING_TASK, try: 1 };
}
