import { liveness, type ReadinessChecks, readiness } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import { problemHandler, requestId, routeNotFound, securityHeaders } from '@framelane/service-kit/middleware';
import { internalError, Problem } from '@framelane/service-kit/problem';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { READINESS_TIMEOUT_MS } from './config.ts';
import { uploadRoutes } from './uploads/upload.routes.ts';
import type { Uploads } from './uploads/uploads.ts';

/** The engine's application: what every request passes, in order. */
export function createApp(deps: {
  checks: ReadinessChecks;
  trustedProxies: readonly string[];
  countRequests: RequestHandler;
  uploads: Uploads;
  logger: Logger;
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', [...deps.trustedProxies]);
  app.use(closeOnUnreadBody, requestId, deps.countRequests, securityHeaders);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(deps.checks, READINESS_TIMEOUT_MS));
  app.use(uploadRoutes(deps.uploads));
  app.use(routeNotFound);
  app.use(closeUnreadBody);
  app.use(problemHandler(deps.logger));
  return app;
}

/** A request that fails before its body is read gets its response at once, and the connection closes: nobody reads the rest. */
const closeUnreadBody: ErrorRequestHandler = (error: unknown, req, _res, next) => {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
  if (!hasBody || req.readableEnded) {
    next(error);
    return;
  }
  const { code, message, options } = error instanceof Problem ? error : internalError(error);
  next(new Problem(code, message, { ...options, closeConnection: true }));
};
