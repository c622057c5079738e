import type { Request, RequestHandler } from 'express';
import type { Credential } from '../auth/authentication.ts';
import { type Actor, asActor } from '../db/actor.ts';
import { operationOf } from '../http/request-validation.ts';

/** Records what requests with a credential change, whatever their operation is. */
export const recordActor: RequestHandler = (req, _res, next) => {
  const { credential } = req;
  if (credential === undefined || req.method === 'GET' || req.method === 'HEAD') return next();
  asActor(actorOf(req, credential), next);
};

function actorOf(req: Request, credential: Credential): Actor {
  const { id, name } = credential;
  return { type: typeOf(credential), id, name, operation: operationOf(req) ?? 'unknown', requestId: req.id };
}

function typeOf(credential: Credential): Actor['type'] {
  if (credential.kind === 'key') return 'api_key';
  return credential.person_email === null ? 'link' : 'person';
}
