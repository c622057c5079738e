import { internalError, Problem } from '@framelane/service-kit/problem';
import type { ErrorRequestHandler } from 'express';

/** A request that fails before its body was read is answered at once, and its connection closed: nobody drains it. */
export const refuseUnreadBody: ErrorRequestHandler = (error: unknown, req, _res, next) => {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
  if (!hasBody || req.readableEnded) {
    next(error);
    return;
  }
  const { code, message, options } = error instanceof Problem ? error : internalError(error);
  next(new Problem(code, message, { ...options, closeConnection: true }));
};
