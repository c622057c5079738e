import { sendProblem } from '@framelane/service-kit/middleware';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, RequestHandler, Response } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Commit, Database } from '../db/database.ts';
import type { IdempotencyService } from './idempotency.service.ts';
import { hashFile, hashKey, hashPayload, withoutMembers } from './idempotency-key.ts';
import type { Claim, StoredResponse } from './idempotency-keys.store.ts';

/** An operation that has one effect per Idempotency-Key. `T` is its outcome. */
export type IdempotentOperation<T> = {
  /** Reads a body that is a file. It becomes the body of the request. */
  readBody?(req: Request, res: Response): Promise<Buffer>;
  /** Validates, reads and hashes, before the transaction; resolves with the effect. May throw a Problem, as may the effect. */
  prepare(req: Request): Promise<Commit<T>>;
  /** The response for an outcome. */
  response(outcome: T): StoredResponse;
  /** Called once the effect is committed. */
  committed?(outcome: T, req: Request): void;
  /** Members of the body that are never stored; a replay lacks them. */
  oneTime?: readonly string[];
  /** Resolves with new values of these members for a replay; `stored` is the body without them. May throw a Problem. */
  renew?(req: Request, stored: StoredResponse['body']): Promise<Record<string, unknown>>;
};

/** Creates the request handler of an operation. Without the header Idempotency-Key, each request has its effect. */
export type Idempotent = <T>(operation: IdempotentOperation<T>) => RequestHandler;

/** The effect and the stored response are committed in one transaction. `publicUrl` begins the types of problems. */
export function idempotent(db: Database, keys: IdempotencyService, publicUrl: string): Idempotent {
  return (operation) => async (req, res) => {
    if (operation.readBody) req.body = await operation.readBody(req, res);
    const begun = await begin(keys, req);
    if (begun !== undefined && 'stored' in begun) await replay(req, res, begun.stored, operation);
    else send(res, await run({ db, keys, publicUrl }, begun?.claim, req, operation));
  };
}

async function begin(keys: IdempotencyService, req: Request) {
  const key = req.get('idempotency-key');
  if (key === undefined) return undefined;
  const credential = credentialOf(req);
  return keys.begin({
    workspaceId: credential.workspace_id,
    keyHash: hashKey({ route: req.route.path, params: req.params as Record<string, string> }, key),
    // Otherwise a request in one environment could get the response that another one stored in the other environment.
    payloadHash: hashPayload([
      credential.environment,
      Buffer.isBuffer(req.body) ? hashFile(req.body) : req.body,
    ]),
  });
}

/** Continues when the client disconnects: its retry gets the stored response. */
async function run<T>(
  { db, keys, publicUrl }: { db: Database; keys: IdempotencyService; publicUrl: string },
  claim: Claim | undefined,
  req: Request,
  { prepare, response, committed, oneTime = [] }: IdempotentOperation<T>,
): Promise<StoredResponse> {
  try {
    const commit = await prepare(req);
    const outcome = await db.transaction().execute(async (trx) => {
      const reached = await commit(trx);
      if (claim !== undefined) {
        const { body, ...rest } = response(reached);
        await keys.store(trx, claim, { ...rest, body: withoutMembers(body, oneTime) });
      }
      return reached;
    });
    committed?.(outcome, req);
    return response(outcome);
  } catch (error) {
    if (claim !== undefined) await keys.fail(claim, errorResponse(error, req, publicUrl));
    throw error;
  }
}

/** The response to an error. Only that of a Problem may be stored. */
function errorResponse(error: unknown, req: Request, publicUrl: string): StoredResponse {
  if (!(error instanceof Problem)) return { status: 500, body: {} };
  const request = { id: req.id, path: `${req.baseUrl}${req.path}` };
  return { status: error.status, body: error.toBody(request, publicUrl) };
}

async function replay<T>(
  req: Request,
  res: Response,
  stored: StoredResponse,
  { renew }: IdempotentOperation<T>,
): Promise<void> {
  const renewed = stored.status < 400 ? await renew?.(req, stored.body) : undefined;
  res.set('Idempotency-Replayed', 'true');
  if (stored.status < 400) send(res, { ...stored, body: { ...stored.body, ...renewed } });
  else {
    res.locals.problemCode = String(stored.body.code);
    sendProblem(res, stored.body);
  }
}

function send(res: Response, { status, location, body }: StoredResponse): void {
  if (location !== undefined) res.location(location);
  res.status(status).json(body);
}
