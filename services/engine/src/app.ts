import { liveness, type ReadinessChecks, readiness } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import { problemHandler, requestId, routeNotFound, securityHeaders } from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type Express, type RequestHandler } from 'express';
import { READINESS_LIMIT_MS } from './readiness-limit.ts';
import { refuseUnreadBody } from './refuse-body.ts';
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
  app.get('/readyz', readiness(deps.checks, READINESS_LIMIT_MS));
  app.use(uploadRoutes(deps.uploads));
  app.use(routeNotFound);
  app.use(refuseUnreadBody);
  app.use(problemHandler(deps.logger));
  return app;
}
