import { liveness, type ReadinessChecks, readiness } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import {
  embeddableAnywhere,
  problemHandler,
  requestId,
  routeNotFound,
  securityHeaders,
} from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express';
import type { Route } from './http/contract.ts';
import { translateHttpError } from './http/problems.ts';
import { playbackCors, playlistCompression } from './playback/playback.routes.ts';

/** The public application: what every request passes, in order. */
export function createApp(deps: {
  logger: Logger;
  checks: ReadinessChecks;
  trustedProxies: readonly string[];
  countRequests: RequestHandler;
  countBandwidth: RequestHandler;
  referenceFiles: RequestHandler;
  validation: (RequestHandler | ErrorRequestHandler)[];
  routes: Route[];
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', [...deps.trustedProxies]);
  app.use(closeOnUnreadBody, requestId, deps.countRequests, securityHeaders);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(deps.checks));
  app.use('/v1/hls', asOne(deps.countBandwidth, embeddableAnywhere, playbackCors, playlistCompression));
  app.use('/v1/docs', deps.referenceFiles);
  app.use('/v1', asOne(noStore, refuseNul, ...deps.validation, toRouter(deps.routes)));
  app.use(routeNotFound);
  app.use(problemHandler(deps.logger, translateHttpError));
  return app;
}

/** Answers are for the asker alone unless a handler says otherwise. */
const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

/** PostgreSQL cannot store NUL, so nothing is called by such a name. */
const refuseNul: RequestHandler = (req, res, next) => {
  if (req.path.includes('%00')) routeNotFound(req, res, next);
  else next();
};

/** The path in front of them is matched once, not for each. */
function asOne(...handlers: (RequestHandler | ErrorRequestHandler)[]): Router {
  return Router().use(...handlers);
}

function toRouter(routes: readonly Route[]): Router {
  const router = Router();
  for (const { method, path, handler } of routes) router[method](path, handler);
  return router;
}
