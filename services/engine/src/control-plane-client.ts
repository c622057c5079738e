import { randomUUID } from 'node:crypto';
import {
  type AnnounceEngineRequest,
  type CheckTaskRequest,
  type CheckTransferRequest,
  type ClaimedImport,
  type ClaimImportRequest,
  type ClaimTaskRequest,
  type ClaimTaskResponse,
  type CompleteTransferRequest,
  type CreateResumableRequest,
  type CreateResumableResponse,
  checkImportsResponse,
  checkResponse,
  claimImportResponse,
  claimTaskResponse,
  createResumableResponse,
  type EndImportTryRequest,
  type ImportProgressRequest,
  INTERNAL_PATHS,
  type OpenResumableRequest,
  type OpenResumableResponse,
  openResumableResponse,
  type RedeemTicketRequest,
  type RedeemTicketResponse,
  type ReleaseTransferRequest,
  type ReportNoRoomRequest,
  redeemTicketResponse,
  type SaveResumableRequest,
  type SaveResumableResponse,
  type StorePlanRequest,
  saveResumableResponse,
  type TerminateResumableRequest,
  type TerminateResumableResponse,
  terminateResumableResponse,
} from '@framelane/contracts/internal-api';
import type { ProblemCode } from '@framelane/contracts/problem-codes';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import { type Span, serverOf, withSpan } from '@framelane/service-kit/tracing';
import { z } from 'zod';
import { postDirectly } from './direct-request.ts';

const TIMEOUT_MS = 10_000;

/** A claim for a client that waits is sent twice, within the same time. */
const CLAIM_TIMEOUT_MS = TIMEOUT_MS / 2;

/** A well-formed id that no video has. */
const NO_VIDEO = 'vid_00000000000000000000000000';

/** The control plane may have performed the request. */
class NoResponseError extends Error {
  override name = 'NoResponseError';
}

/** Requests that repeat as long as the work takes. They have no spans. */
const UNTRACED: readonly string[] = [
  INTERNAL_PATHS.checkTask,
  INTERNAL_PATHS.checkTransfer,
  INTERNAL_PATHS.importProgress,
  INTERNAL_PATHS.saveResumable,
];

/** Problems of a ticket that are passed on to the client. */
const TICKET_PROBLEMS: readonly ProblemCode[] = [
  'upload_token_missing',
  'upload_token_invalid',
  'upload_token_expired',
  'upload_token_exhausted',
  'upload_token_used',
  'upload_in_progress',
  'file_too_large',
  'quota_exceeded',
  'too_many_uploads',
  'rate_limited',
];

/** Problems of the completion of an upload that are passed on to the client. */
const COMPLETION_PROBLEMS: readonly ProblemCode[] = ['upload_token_expired', 'upload_cancelled'];

/** Problems of a resumable upload that are passed on to the client. */
const RESUMABLE_PROBLEMS: readonly ProblemCode[] = ['upload_not_found', 'upload_ended', 'upload_complete'];

type SendOptions = { expectedCodes: readonly ProblemCode[]; timeoutMs: number; span: Span | undefined };

/** A problem+json body. Members that only some problems have are kept as extra members. */
const problemBody = z
  .looseObject({ code: z.string(), detail: z.string() })
  .transform(({ type, title, status, instance, requestId, code, detail, ...extra }) => ({
    code,
    detail,
    extra,
  }));

/**
 * The client of the control plane's internal API. If the control plane is unavailable, times out or sends an unexpected
 * response, every request fails with a 503 Problem, whose cause is for the log.
 */
export class ControlPlaneClient {
  readonly #baseUrl: string;
  readonly #address: URL;
  readonly #secret: string;

  constructor(options: { baseUrl: string; secret: string }) {
    this.#baseUrl = options.baseUrl;
    this.#address = new URL(options.baseUrl);
    this.#secret = options.secret;
  }

  /** Leases a ticket to a new transfer, or throws the Problem to respond with. */
  async redeemTicket(request: Omit<RedeemTicketRequest, 'claimId'>): Promise<RedeemTicketResponse> {
    return parseResponse(
      redeemTicketResponse,
      await this.#claim(INTERNAL_PATHS.redeemTicket, request, TICKET_PROBLEMS),
    );
  }

  /**
   * Registers the file of a transfer, or throws the Problem to respond with. After a 503 Problem, the file may be registered or
   * not. Idempotent.
   */
  async completeTransfer(request: CompleteTransferRequest): Promise<void> {
    await this.#post(INTERNAL_PATHS.completeTransfer, request, COMPLETION_PROBLEMS);
  }

  /** Releases the ticket of a failed transfer, so that its token works again. */
  async releaseTransfer(request: ReleaseTransferRequest): Promise<void> {
    await this.#post(INTERNAL_PATHS.releaseTransfer, request);
  }

  /** Whether the transfer still holds its ticket. */
  async isTransferCurrent(request: CheckTransferRequest): Promise<boolean> {
    const body = await this.#post(INTERNAL_PATHS.checkTransfer, request);
    return parseResponse(checkResponse, body).current;
  }

  /** Creates or finds a resumable upload, or throws the Problem to respond with. */
  async createResumable(request: CreateResumableRequest): Promise<CreateResumableResponse> {
    return parseResponse(
      createResumableResponse,
      await this.#post(INTERNAL_PATHS.createResumable, request, TICKET_PROBLEMS),
    );
  }

  /** Opens a resumable upload for this engine, or throws the Problem to respond with. */
  async openResumable(request: Omit<OpenResumableRequest, 'claimId'>): Promise<OpenResumableResponse> {
    const expected = [...TICKET_PROBLEMS, ...RESUMABLE_PROBLEMS];
    return parseResponse(
      openResumableResponse,
      await this.#claim(INTERNAL_PATHS.openResumable, request, expected),
    );
  }

  /** Saves the checkpoint of an open upload. Throws a Problem `transfer_lost` if another engine has it. */
  async saveResumable(request: SaveResumableRequest): Promise<SaveResumableResponse> {
    return parseResponse(
      saveResumableResponse,
      await this.#post(INTERNAL_PATHS.saveResumable, request, ['transfer_lost']),
    );
  }

  /** Ends a resumable upload, or throws the Problem to respond with. */
  async terminateResumable(request: TerminateResumableRequest): Promise<TerminateResumableResponse> {
    const expected = [...TICKET_PROBLEMS, ...RESUMABLE_PROBLEMS];
    return parseResponse(
      terminateResumableResponse,
      await this.#post(INTERNAL_PATHS.terminateResumable, request, expected),
    );
  }

  /** Claims an import that is due. Null if no import is due. */
  async claimImport(request: ClaimImportRequest): Promise<ClaimedImport | null> {
    return parseResponse(claimImportResponse, await this.#post(INTERNAL_PATHS.claimImport, request)).import;
  }

  /** Whether an import waits whose workspace has fewer running imports than this one. */
  async doesOtherImportWait({ workspaceId }: { workspaceId: string }): Promise<boolean> {
    const body = await this.#post(INTERNAL_PATHS.checkImports, { workspaceId });
    return parseResponse(checkImportsResponse, body).waiting;
  }

  /** Reports the progress of an import and renews its lease. Resolves with whether the transfer is current. */
  async importProgress(request: ImportProgressRequest): Promise<boolean> {
    const body = await this.#post(INTERNAL_PATHS.importProgress, request);
    return parseResponse(checkResponse, body).current;
  }

  /** Reports the end of an import's try that stored no file. */
  async endImportTry(request: EndImportTryRequest): Promise<void> {
    await this.#post(INTERNAL_PATHS.endImportTry, request);
  }

  /** Stores the plan that a try has made. Resolves with false if the try has ended. */
  async storePlan(request: StorePlanRequest): Promise<boolean> {
    return (await this.#postUnless('plan_not_current', INTERNAL_PATHS.storePlan, request)) !== null;
  }

  /** Claims the next task of a video. Null if none waits. */
  async claimTask(request: ClaimTaskRequest): Promise<ClaimTaskResponse | null> {
    const body = await this.#postUnless('task_not_claimable', INTERNAL_PATHS.claimTask, request);
    return body === null ? null : parseResponse(claimTaskResponse, body);
  }

  /** Whether the try of a task still holds its lease. */
  async isTaskCurrent(request: CheckTaskRequest): Promise<boolean> {
    return parseResponse(checkResponse, await this.#post(INTERNAL_PATHS.checkTask, request)).current;
  }

  /** Reports that this engine has no room on its disk for a derivation. */
  async reportNoRoom(request: ReportNoRoomRequest): Promise<void> {
    await this.#post(INTERNAL_PATHS.reportNoRoom, request);
  }

  /** Reports the state and load of this engine. */
  async announce(request: AnnounceEngineRequest): Promise<void> {
    await this.#post(INTERNAL_PATHS.announceEngine, request);
  }

  /** Rejects while the control plane is unavailable. It sends an ordinary request, which also checks the address and the secret. */
  async check(): Promise<void> {
    await this.isTaskCurrent({ videoId: NO_VIDEO, attempt: 1, task: 0, try: 1 });
  }

  /** Sends a claim. If no response arrives, sends it once more: with the same id it gets what the first one got. */
  async #claim(path: string, request: object, expectedCodes: readonly ProblemCode[]): Promise<unknown> {
    const claim = { ...request, claimId: randomUUID() };
    try {
      return await this.#post(path, claim, expectedCodes, CLAIM_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof Problem && error.cause instanceof NoResponseError)) throw error;
      return this.#post(path, claim, expectedCodes, CLAIM_TIMEOUT_MS);
    }
  }

  /** Resolves with the body of the response, or with null if the response is a problem with `code`. */
  async #postUnless(code: ProblemCode, path: string, request: object): Promise<unknown> {
    try {
      return await this.#post(path, request, [code]);
    } catch (error) {
      if (error instanceof Problem && error.code === code) return null;
      throw error;
    }
  }

  /** Resolves with the body of the response. Throws a Problem; its code is passed on if it is one of the expected ones. */
  #post(
    path: string,
    request: object,
    expectedCodes: readonly ProblemCode[] = [],
    timeoutMs = TIMEOUT_MS,
  ): Promise<unknown> {
    const send = (span?: Span) => this.#send(path, request, { expectedCodes, timeoutMs, span });
    if (UNTRACED.includes(path)) return send();
    const attributes = {
      'http.request.method': 'POST',
      'url.template': path,
      ...serverOf(this.#address),
    };
    return withSpan(`POST ${path}`, { kind: 'client', attributes }, send);
  }

  async #send(
    path: string,
    request: object,
    { expectedCodes, timeoutMs, span }: SendOptions,
  ): Promise<unknown> {
    let status: number;
    let retryAfter: string | undefined;
    let body: unknown;
    try {
      const response = await postDirectly(`${this.#baseUrl}${path}`, {
        headers: {
          Authorization: `Bearer ${this.#secret}`,
          ...(span && { traceparent: span.traceparent }),
        },
        body: request,
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = response.status;
      retryAfter = response.headers['retry-after'];
      body = response.text === '' ? undefined : JSON.parse(response.text);
      span?.set({ 'http.response.status_code': status });
    } catch (error) {
      throw controlPlaneUnavailable(new NoResponseError('No response arrived', { cause: error }));
    }
    if (status >= 200 && status < 300) return body;
    const problem = problemBody.safeParse(body).data;
    const refusal = expectedCodes.find((code) => code === problem?.code);
    if (status < 500 && problem && refusal) {
      const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
      throw new Problem(refusal, problem.detail, { extra: problem.extra, headers });
    }
    throw controlPlaneUnavailable(
      new Error(`The control plane responded to ${path} with ${status} ${problem?.code ?? ''}`),
    );
  }
}

function parseResponse<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw controlPlaneUnavailable(result.error);
  return result.data;
}

function controlPlaneUnavailable(cause: unknown): Problem {
  return unavailable('A part of the service is unavailable. Retry later.', cause);
}
