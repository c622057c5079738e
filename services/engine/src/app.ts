import { closeUnread } from '@framelane/service-kit/end-unread';
import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/express';
import { liveness } from '@framelane/service-kit/liveness';
import type { Logger } from '@framelane/service-kit/logger';
import { type ReadinessChecks, readiness } from '@framelane/service-kit/readiness';
import { securityHeaders } from '@framelane/service-kit/security-headers';
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
  app.use(closeUnread, requestId, deps.countRequests, securityHeaders);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(deps.checks, READINESS_LIMIT_MS));
  app.use(uploadRoutes(deps.uploads));
  app.use(routeNotFound);
  app.use(refuseUnreadBody);
  app.use(problemHandler(deps.logger));
  return app;
}
