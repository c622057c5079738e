import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/express';
import type { Logger } from '@framelane/service-kit/logger';
import { type ReadinessChecks, readiness } from '@framelane/service-kit/readiness';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express';
import { deliveryCors, playlistCompression } from './delivery/delivery.routes.ts';
import type { Route } from './http/contract.ts';
import { translateHttpError } from './http/problems.ts';

/** Largest JSON body taken. */
const BODY_LIMIT = '256kb';

/** The public application: what every request passes, in order. */
export function createApp(deps: {
  logger: Logger;
  checks: ReadinessChecks;
  validation: (RequestHandler | ErrorRequestHandler)[];
  routes: Route[];
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requestId);
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', readiness(deps.checks));
  app.use('/v1/hls', deliveryCors, playlistCompression);
  app.use('/v1', noStore, express.json({ limit: BODY_LIMIT }), ...deps.validation);
  app.use('/v1', toRouter(deps.routes));
  app.use(routeNotFound);
  app.use(problemHandler(deps.logger, translateHttpError));
  return app;
}

/** Answers are for the asker alone unless a handler says otherwise. */
const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

function toRouter(routes: readonly Route[]): Router {
  const router = Router();
  for (const { method, path, handler } of routes) router[method](path, handler);
  return router;
}
