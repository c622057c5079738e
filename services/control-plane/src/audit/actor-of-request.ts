import type { Request, RequestHandler } from 'express';
import type { Credential } from '../auth/authentication.ts';
import { type Actor, asActor } from '../db/actor.ts';
import { operationOf } from '../http/request-validation.ts';
import { scrubbed } from '../request-log/shown-text.ts';

/** Records what requests with a credential change, whatever their operation is. */
export const recordActor: RequestHandler = (req, _res, next) => {
  const { credential } = req;
  if (credential === undefined || req.method === 'GET' || req.method === 'HEAD') return next();
  asActor(actorOf(req, credential), next);
};

/** Who makes a request. */
export function actorOf(req: Request, credential: Credential): Actor {
  const { id, name } = credential;
  const operation = operationOf(req) ?? 'unknown';
  return { type: typeOf(credential), id, name, operation, requestId: auditedRequestId(req) };
}

/** The id of a request as both logs have it. A client chooses its id, and could put a secret there. */
export function auditedRequestId(req: Request): string {
  return scrubbed(req.id, 128);
}

function typeOf(credential: Credential): Actor['type'] {
  if (credential.kind === 'key') return 'api_key';
  return credential.person_email === null ? 'link' : 'person';
}
