import {
  type AttemptWantedRequest,
  type ClaimAttemptRequest,
  type ClaimAttemptResponse,
  type CompleteTransferRequest,
  claimAttemptResponse,
  INTERNAL_PATHS,
  type RedeemTicketRequest,
  type RedeemTicketResponse,
  type ReleaseTransferRequest,
  redeemTicketResponse,
  type TransferWantedRequest,
  wantedResponse,
} from '@framelane/contracts/internal-api';
import type { ProblemCode } from '@framelane/contracts/problem-codes';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import { z } from 'zod';

const TIMEOUT_MS = 10_000;

/** A well-formed id that no video has. */
const NO_VIDEO = 'vid_00000000000000000000000000';

/** The refusals of a ticket that a client may see. */
const TICKET_REFUSALS: readonly ProblemCode[] = [
  'upload_token_missing',
  'upload_token_invalid',
  'upload_token_expired',
  'upload_token_used',
  'upload_in_progress',
  'file_too_large',
  'too_many_uploads',
  'rate_limited',
];

/** The refusals of a file that is stored. */
const COMPLETION_REFUSALS: readonly ProblemCode[] = ['upload_token_expired', 'upload_cancelled'];

const ATTEMPT_NOT_CLAIMABLE = 'attempt_not_claimable';

/** A problem+json body; what RFC 9457 does not define is kept as an extra member. */
const problemBody = z
  .looseObject({ code: z.string(), detail: z.string() })
  .transform(({ type, title, status, instance, requestId, code, detail, ...extra }) => ({
    code,
    detail,
    extra,
  }));

/**
 * Asks the control plane what only it can know. When it is away, does not answer in time, or answers with something
 * that is not agreed, every question fails with a 503 Problem whose cause is for the log.
 */
export class ControlPlaneClient {
  readonly #baseUrl: string;
  readonly #secret: string;

  constructor(options: { baseUrl: string; secret: string }) {
    this.#baseUrl = options.baseUrl;
    this.#secret = options.secret;
  }

  /** Leases a ticket to a new transfer, or throws the Problem that says why not, fit for the client. */
  async redeemTicket(request: RedeemTicketRequest): Promise<RedeemTicketResponse> {
    return readAnswer(
      redeemTicketResponse,
      await this.#ask(INTERNAL_PATHS.redeemTicket, request, TICKET_REFUSALS),
    );
  }

  /**
   * Registers the file of a transfer, or throws the Problem that says why it is not taken, fit for the client. After a 503
   * Problem the file may have been registered. Idempotent.
   */
  async completeTransfer(request: CompleteTransferRequest): Promise<void> {
    await this.#ask(INTERNAL_PATHS.completeTransfer, request, COMPLETION_REFUSALS);
  }

  /** Makes the ticket of a broken transfer usable again. */
  async releaseTransfer(request: ReleaseTransferRequest): Promise<void> {
    await this.#ask(INTERNAL_PATHS.releaseTransfer, request);
  }

  /** Whether the transfer still holds its ticket. */
  async transferWanted(request: TransferWantedRequest): Promise<boolean> {
    const answer = await this.#ask(INTERNAL_PATHS.transferWanted, request);
    return readAnswer(wantedResponse, answer).wanted;
  }

  /** Leases the next attempt at a video; null when there is none to run. */
  async claimAttempt(request: ClaimAttemptRequest): Promise<ClaimAttemptResponse | null> {
    try {
      const answer = await this.#ask(INTERNAL_PATHS.claimAttempt, request, [ATTEMPT_NOT_CLAIMABLE]);
      return readAnswer(claimAttemptResponse, answer);
    } catch (error) {
      if (error instanceof Problem && error.code === ATTEMPT_NOT_CLAIMABLE) return null;
      throw error;
    }
  }

  /** Whether the attempt still holds its lease. */
  async attemptWanted(request: AttemptWantedRequest): Promise<boolean> {
    const answer = await this.#ask(INTERNAL_PATHS.attemptWanted, request);
    return readAnswer(wantedResponse, answer).wanted;
  }

  /** Rejects while the control plane cannot be asked. An ordinary question proves address and secret at once. */
  async check(): Promise<void> {
    await this.attemptWanted({ videoId: NO_VIDEO, attempt: 1 });
  }

  /** Resolves with the body of the answer; throws a refusal as a Problem if its code is among those expected. */
  async #ask(path: string, request: object, expectedRefusals: readonly ProblemCode[] = []): Promise<unknown> {
    let status: number;
    let retryAfter: string | null;
    let body: unknown;
    try {
      const response = await fetch(`${this.#baseUrl}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${this.#secret}` },
        body: JSON.stringify(request),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      status = response.status;
      retryAfter = response.headers.get('retry-after');
      const text = await response.text();
      body = text === '' ? undefined : JSON.parse(text);
    } catch (error) {
      throw notUsable(error);
    }
    if (status >= 200 && status < 300) return body;
    const problem = problemBody.safeParse(body).data;
    const refusal = expectedRefusals.find((code) => code === problem?.code);
    if (status < 500 && problem && refusal) {
      const headers = retryAfter === null ? {} : { 'Retry-After': retryAfter };
      throw new Problem(refusal, problem.detail, { extra: problem.extra, headers });
    }
    throw notUsable(new Error(`The control plane answered ${status} ${problem?.code ?? ''} to ${path}`));
  }
}

function readAnswer<S extends z.ZodType>(schema: S, answer: unknown): z.infer<S> {
  const result = schema.safeParse(answer);
  if (!result.success) throw notUsable(result.error);
  return result.data;
}

function notUsable(cause: unknown): Problem {
  return unavailable('A part of this service is away for the moment. Try again soon.', cause);
}
