import { newId } from '@framelane/contracts/ids';
import type { Logger } from '@framelane/service-kit/logger';
import type { Request, RequestHandler, Response } from 'express';
import { PeriodicWrite } from '../background/periodic-write.ts';
import type { Database } from '../db/database.ts';
import type { Clock } from '../db/database-clock.ts';
import { isDatabaseUnavailable } from '../db/database-unavailable.ts';
import { routeOf } from '../http/request-validation.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type DescribedOperation, describedOperations, resolver } from './described-operation.ts';
import type { Schema } from './described-value.ts';
import { type Buffered, FairBuffer } from './fair-buffer.ts';
import { loggedRequestHeaders, loggedResponseHeaders } from './logged-headers.ts';
import { loggedProblem, namesIn } from './logged-problem.ts';
import { Redaction } from './redaction.ts';
import { type NewEntry, storeRequests } from './request-log.store.ts';
import { scrubbed } from './shown-text.ts';

const FLUSH_SECONDS = 1;

/** What waits at most: of one workspace, what one flush of it stores, and of all. */
const BUFFER = { entriesOfWorkspace: 200, bytesOfWorkspace: 2 * 1024 ** 2, bytes: 16 * 1024 ** 2 };

/** Size of a row without its JSON, about. */
const ROW_BYTES = 300;

/** The status of a request whose client closed the connection before the response, as nginx has it. */
const CLIENT_CLOSED_REQUEST = 499;

type Deps = { clock: Clock; db: Database; logger: Logger; metrics: Metrics };
type Waiting = Buffered & { row: NewEntry };

/** What an entry is made of, besides the request and its response. */
type Made = {
  startedAt: Date;
  /** By a clock that does not jump. */
  durationMs: number;
  /** The method before the validation, which handles HEAD as GET. */
  method: string;
  body: unknown;
  redaction: Redaction;
  described: DescribedOperation;
  /** The names of the contract. */
  names: ReadonlySet<string>;
};

/**
 * Records the requests of API keys (ADR 100). A request neither waits nor fails because of it: entries are made after the response, wait in a
 * bounded buffer, and are stored in batches. Without room or database they are dropped and counted.
 */
export class RequestRecorder {
  readonly #deps: Deps;
  readonly #buffer = new FairBuffer<Waiting>(BUFFER);
  readonly #storing = new PeriodicWrite(() => this.#write(), FLUSH_SECONDS);

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Records requests of the operations of the contract. Put it before the validation. */
  handler(contract: object): RequestHandler {
    const resolve = resolver(contract);
    const redaction = new Redaction(resolve);
    const describe = describedOperations(resolve);
    const names = namesIn(contract);
    return (req, res, next) => {
      const startedAt = this.#deps.clock.now();
      const begunMs = performance.now();
      const { method } = req;
      const body = sentJson(res);
      res.once('close', () => {
        const { verifiedKey: key } = req;
        if (key === undefined) return;
        if (!this.#buffer.hasRoomFor(key.workspace_id))
          return this.#deps.metrics.requestsNotLogged('full', 1);
        try {
          const described = describe(req);
          const durationMs = Math.round(performance.now() - begunMs);
          this.#add(req, res, { startedAt, durationMs, method, body: body(), redaction, described, names });
        } catch (error) {
          // Nobody else handles errors of listeners: they would end the process.
          this.#deps.metrics.requestsNotLogged('failed', 1);
          this.#deps.logger.error('request_log.not_made', { requestId: req.id, error });
        }
      });
      next();
    };
  }

  start(): void {
    this.#storing.start();
  }

  /** Stores the remaining requests. Call it when all responses have ended. */
  stop(): Promise<void> {
    return this.#storing.stop();
  }

  #add(req: Request, res: Response, made: Made): void {
    const row = entryOf(req, res, made);
    if (row === undefined) return;
    const dropped = this.#buffer.add({ workspaceId: row.workspace_id, bytes: row.bytes, row });
    if (dropped > 0) this.#deps.metrics.requestsNotLogged('full', dropped);
  }

  async #write(): Promise<void> {
    let outage: unknown;
    for (const [workspaceId, waiting] of this.#buffer.takeAll()) {
      try {
        // Each attempt waits for the database.
        if (outage !== undefined) throw outage;
        const rows = waiting.map(({ row }) => row);
        const untimely = await storeRequests(this.#deps.db, workspaceId, rows);
        if (untimely > 0) this.#deps.metrics.requestsNotLogged('clock', untimely);
      } catch (error) {
        if (isDatabaseUnavailable(error)) outage = error;
        this.#deps.metrics.requestsNotLogged('database', waiting.length);
        this.#deps.logger.warn('request_log.not_stored', { workspaceId, requests: waiting.length, error });
      }
    }
  }
}

/** Returns the JSON body of a successful response once it is sent. */
function sentJson(res: Response): () => unknown {
  let sent: unknown;
  const json = res.json.bind(res);
  res.json = (body) => {
    sent = body;
    return json(body);
  };
  return () => sent;
}

function entryOf(req: Request, res: Response, made: Made): NewEntry | undefined {
  const { verifiedKey: key } = req;
  const route = routeOf(req);
  if (key === undefined || route === undefined) return undefined;
  const { startedAt, durationMs, method, body, redaction, described, names } = made;
  const { problem } = res.locals;
  const json = {
    query: JSON.stringify(redaction.redact(req.query, described.query)),
    request_headers: JSON.stringify(loggedRequestHeaders(req.headers)),
    request_body: redacted(isJsonBody(req) ? req.body : undefined, described.requestBody(), redaction),
    response_headers: JSON.stringify(loggedResponseHeaders(res.getHeaders() as Record<string, string>)),
    response_body:
      problem === undefined
        ? redacted(body, described.responseBody(res.statusCode), redaction)
        : redacted(loggedProblem(problem, names), PROBLEM, redaction),
  };
  return {
    id: newId('log'),
    workspace_id: key.workspace_id,
    request_id: scrubbed(req.id, 128),
    key_id: key.id,
    key_last4: key.last4,
    method,
    route,
    path: scrubbed(req.originalUrl.replace(/\?.*$/s, ''), 300),
    status: res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST,
    problem_code: res.locals.problemCode ?? null,
    duration_ms: durationMs,
    created_at: startedAt,
    ...json,
    bytes: ROW_BYTES + Object.values(json).reduce((sum, text) => sum + (text?.length ?? 0), 0),
  };
}

const PROBLEM: Schema = { $ref: '#/components/schemas/Problem' };

/** Files are no JSON: their handlers read them as bytes. */
function isJsonBody({ body }: Request): boolean {
  return typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
}

function redacted(body: unknown, schema: Schema | undefined, redaction: Redaction): string | null {
  return body === undefined ? null : JSON.stringify(redaction.redact(body, schema));
}
