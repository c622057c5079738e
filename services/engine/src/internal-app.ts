import { liveness, type ReadinessChecks, readiness } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type Express, type RequestHandler } from 'express';
import { READINESS_TIMEOUT_MS } from './config.ts';

/** The application on the internal listener: how the engine is doing, for those who run it. */
export function createInternalApp(deps: {
  checks: ReadinessChecks;
  metrics: RequestHandler;
  logger: Logger;
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(closeOnUnreadBody, requestId);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(deps.checks, READINESS_TIMEOUT_MS));
  app.get('/metrics', deps.metrics);
  app.use(routeNotFound, problemHandler(deps.logger));
  return app;
}
