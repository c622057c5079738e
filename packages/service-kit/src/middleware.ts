import { newId } from '@framelane/contracts/ids';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from './logger.ts';
import { internalError, Problem } from './problem.ts';
import { endWithUnreadBody } from './unread-body.ts';

declare global {
  namespace Express {
    interface Request {
      /** The request id: in the response, in every log line, in every problem. */
      id: string;
    }
    interface Locals {
      /** Code of the problem that the request failed with, if any. */
      problemCode?: string;
      /** The body of that problem. */
      problem?: Readonly<Record<string, unknown>>;
    }
  }
}

const VALID_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives every request an id and returns it in `X-Request-Id`. A valid id that the client sends is used. */
export const requestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  req.id = given !== undefined && VALID_REQUEST_ID.test(given) ? given : newId('req');
  res.set('X-Request-Id', req.id);
  next();
};

/**
 * Response headers for browsers (OWASP REST Security Cheat Sheet). Responses are data: shown as a page they load nothing,
 * cannot be framed, and only pages of the same origin can embed them. A handler whose response is something else
 * overrides them. Strict-Transport-Security is left to the proxy that terminates TLS.
 */
export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  next();
};

/** Lets pages of any origin embed the response, including pages with Cross-Origin-Embedder-Policy. */
export const embeddableAnywhere: RequestHandler = (_req, res, next) => {
  res.set('Cross-Origin-Resource-Policy', 'cross-origin');
  next();
};

/** Responds with 404 when no route has matched. */
export const routeNotFound: RequestHandler = (req) => {
  throw new Problem(
    'route_not_found',
    `There is no operation ${req.method} ${req.path}. Check the method and the path.`,
  );
};

/**
 * Responds with 404 if the path is not UTF-8 or contains NUL, which PostgreSQL cannot store: no resource has such a name. Put it before
 * everything that reads parameters of the path.
 */
export const refuseUnstorablePath: RequestHandler = (req, res, next) => {
  if (isStorablePath(req.path)) next();
  else routeNotFound(req, res, next);
};

function isStorablePath(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}

/**
 * The last middleware: renders every error as problem+json. `publicUrl` begins the types of problems. `translate` turns errors of
 * libraries into Problems. Any other error is a 500; it is logged with the request id and never shown to the client.
 */
export function problemHandler(
  logger: Logger,
  publicUrl: string,
  translate: (error: unknown, req: Parameters<RequestHandler>[0]) => Problem | undefined = () => undefined,
): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    const problem = error instanceof Problem ? error : (translate(error, req) ?? internalError(error));
    res.locals.problemCode = problem.code;
    // 501 refuses a format: the client has to change its request.
    if (problem.status >= 500 && problem.status !== 501) {
      const facts = { requestId: req.id, method: req.method, path: req.path, status: problem.status };
      // Without a cause nothing has failed: the service is full, for example.
      if (problem.cause === undefined) logger.warn('request.refused', { ...facts, detail: problem.message });
      else logger.error('request.failed', { ...facts, error: problem.cause });
    }
    // Aborting the connection shows the client that the response is incomplete. `next(error)` would also print the error.
    if (res.headersSent) return void res.destroy();
    if (problem.options.headers) res.set(problem.options.headers);
    const body = problem.toBody({ id: req.id, path: req.path }, publicUrl);
    const { closeConnection } = problem.options;
    sendProblem(res, body, closeConnection ? (text) => endWithUnreadBody(req, res, text) : undefined);
  };
}

/** Sends the body of a problem with the status in it. `end` ends the response. */
export function sendProblem(
  res: Response,
  body: Readonly<Record<string, unknown>>,
  end: (text: string) => void = (text) => void res.end(text),
): void {
  const text = JSON.stringify(body);
  res.locals.problem = body;
  res.status(Number(body.status)).set('Cache-Control', 'no-store').removeHeader('ETag');
  // Neither res.type nor res.send: they add a charset parameter, which JSON does not have (RFC 8259 §11).
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  end(text);
}
