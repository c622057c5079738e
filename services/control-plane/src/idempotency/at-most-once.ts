import { sendProblem } from '@framelane/service-kit/middleware';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, RequestHandler, Response } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { NoteOutcome } from '../db/note-outcome.ts';
import type { Answer } from './answer.ts';
import type { IdempotencyService } from './idempotency.service.ts';
import { hashKey, hashPayload, withoutMembers } from './idempotency-key.ts';
import type { Claim } from './idempotency-keys.store.ts';

/** An operation that is carried out at most once for each Idempotency-Key. `T` is its outcome. */
export type Repeatable<T> = {
  /** Does it, and has the outcome noted in the transaction of the effect. */
  perform(req: Request, noteOutcome: NoteOutcome<T>): Promise<T>;
  /** What the client is told of the outcome. */
  answer(outcome: T): Answer;
  /** Members of the body that are told once: they are never stored, and missing when the answer is repeated. */
  oneTime?: readonly string[];
  /** Makes new ones for an answer that is repeated; `told` is the body without them. May throw a Problem instead. */
  renew?(req: Request, told: Answer['body']): Promise<Record<string, unknown>>;
};

/** Makes the handler of an operation. Without the header Idempotency-Key it is carried out each time. */
export type AtMostOnce = <T>(operation: Repeatable<T>) => RequestHandler;

export function atMostOnce(keys: IdempotencyService): AtMostOnce {
  return (operation) => async (req, res) => {
    const key = req.get('idempotency-key');
    if (key === undefined) {
      send(res, operation.answer(await operation.perform(req, async () => {})));
      return;
    }
    const begun = await keys.begin({
      workspaceId: apiKeyOf(req).workspace_id,
      keyHash: hashKey({ route: req.route.path, params: req.params as Record<string, string> }, key),
      payloadHash: hashPayload(req.body),
    });
    if ('told' in begun) {
      await repeat(req, res, begun.told, operation);
      return;
    }
    const outcome = await carryOut(keys, begun.claim, req, operation);
    send(res, operation.answer(outcome));
  };
}

/** Whether the client still listens does not matter: when it asks again, the answer is there. */
async function carryOut<T>(
  keys: IdempotencyService,
  claim: Claim,
  req: Request,
  { perform, answer, oneTime = [] }: Repeatable<T>,
): Promise<T> {
  let noted = false;
  try {
    const outcome = await perform(req, async (trx, reached) => {
      const { body, ...rest } = answer(reached);
      await keys.note(trx, claim, { ...rest, body: withoutMembers(body, oneTime) });
      noted = true;
    });
    if (!noted) throw new Error('The operation did not have its outcome noted');
    return outcome;
  } catch (error) {
    await keys.refuse(claim, refusalOf(error, req));
    throw error;
  }
}

/** What the client is told of an error, as far as it is a refusal. */
function refusalOf(error: unknown, req: Request): Answer {
  if (!(error instanceof Problem)) return { status: 500, body: {} };
  return { status: error.status, body: error.toBody({ id: req.id, path: `${req.baseUrl}${req.path}` }) };
}

async function repeat<T>(req: Request, res: Response, told: Answer, { renew }: Repeatable<T>): Promise<void> {
  res.set('Idempotency-Replayed', 'true');
  if (told.status >= 400) {
    res.locals.problemCode = String(told.body.code);
    sendProblem(res, told.body);
    return;
  }
  const renewed = await renew?.(req, told.body);
  send(res, { ...told, body: { ...told.body, ...renewed } });
}

function send(res: Response, { status, location, body }: Answer): void {
  if (location !== undefined) res.location(location);
  res.status(status).json(body);
}
