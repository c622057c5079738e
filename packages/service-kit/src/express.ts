import { newId } from '@framelane/contracts/ids';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { endUnread } from './end-unread.ts';
import type { Logger } from './logger.ts';
import { internalError, Problem } from './problem.ts';

declare global {
  namespace Express {
    interface Request {
      /** The request id: on the answer, in every log line, in every problem. */
      id: string;
    }
    interface Locals {
      /** Code of the problem the request was answered with, if it was. */
      problemCode?: string;
    }
  }
}

const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives every request an id, the client's own `X-Request-Id` if it is sane, and puts it on the answer. */
export const requestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  req.id = given !== undefined && SANE_REQUEST_ID.test(given) ? given : newId('req');
  res.set('X-Request-Id', req.id);
  next();
};

/** Answers whatever no route took. */
export const routeNotFound: RequestHandler = (req) => {
  throw new Problem(
    'route_not_found',
    `There is no operation ${req.method} ${req.path}. Check the method and the path.`,
  );
};

/**
 * The last middleware: renders every error as problem+json. `translate` turns errors of libraries into Problems;
 * what it does not know is a 500, logged with the request id and never shown.
 */
export function problemHandler(
  logger: Logger,
  translate: (error: unknown, req: Parameters<RequestHandler>[0]) => Problem | undefined = () => undefined,
): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    const problem = error instanceof Problem ? error : (translate(error, req) ?? internalError(error));
    res.locals.problemCode = problem.code;
    if (problem.status >= 500) {
      logger.error('request.failed', {
        requestId: req.id,
        method: req.method,
        path: req.path,
        status: problem.status,
        error: problem.cause ?? problem,
      });
    }
    // A cut connection shows the client that the response is not whole. Express would print the error, too.
    if (res.headersSent) return void res.destroy();
    if (problem.options.headers) res.set(problem.options.headers);
    const body = problem.toBody({ id: req.id, path: req.path });
    sendProblem(res, body, problem.options.closeConnection ? (text) => endUnread(req, res, text) : undefined);
  };
}

/** Sends the body of a problem, with the status in it. */
export function sendProblem(
  res: Response,
  body: Readonly<Record<string, unknown>>,
  end: (text: string) => void = (text) => void res.end(text),
): void {
  const text = JSON.stringify(body);
  res.status(Number(body.status)).set('Cache-Control', 'no-store').removeHeader('ETag');
  // Neither res.type nor res.send: they would add a charset, which JSON has not (RFC 8259 §11).
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  end(text);
}
