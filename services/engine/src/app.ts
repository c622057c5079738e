import { liveness, readiness } from '@framelane/service-kit/health';
import { countRequests, metricsEndpoint } from '@framelane/service-kit/metrics';
import {
  problemHandler,
  refuseUnstorablePath,
  requestId,
  routeNotFound,
  securityHeaders,
} from '@framelane/service-kit/middleware';
import { internalError, Problem } from '@framelane/service-kit/problem';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { READINESS_TIMEOUT_MS } from './config.ts';
import type { EngineContext } from './context.ts';
import type { ResumableUploads } from './resumable-uploads/resumable-uploads.ts';
import { tusRoutes } from './resumable-uploads/tus.routes.ts';
import { uploadRoutes } from './uploads/upload.routes.ts';
import type { Uploads } from './uploads/uploads.ts';

/** The public application of an engine that receives uploads: uploads and health checks. */
export function createApp(
  { config, checks, metrics, logger }: EngineContext,
  { uploads, resumableUploads }: { uploads: Uploads; resumableUploads: ResumableUploads },
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', [...config.trustedProxies]);
  const count = countRequests(metrics.registry, (req) => req.route?.path);
  app.use(closeOnUnreadBody, requestId, count, securityHeaders, refuseUnstorablePath);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(checks, READINESS_TIMEOUT_MS));
  app.use(uploadRoutes(uploads));
  app.use(tusRoutes(resumableUploads));
  app.use(routeNotFound, closeOnFailedUpload, problemHandler(logger, config.publicUrl));
  return app;
}

/** The application on the internal listener: health checks and metrics for operators. */
export function createInternalApp({ config, checks, metrics, logger }: EngineContext): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(closeOnUnreadBody, requestId);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(checks, READINESS_TIMEOUT_MS));
  app.get('/metrics', metricsEndpoint(metrics.registry));
  app.use(routeNotFound, problemHandler(logger, config.publicUrl));
  return app;
}

/** When a request fails before its body is read, responds at once and closes the connection instead of reading the rest. */
const closeOnFailedUpload: ErrorRequestHandler = (error: unknown, req, _res, next) => {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
  if (!hasBody || req.readableEnded) {
    next(error);
    return;
  }
  const { code, message, options } = error instanceof Problem ? error : internalError(error);
  next(new Problem(code, message, { ...options, closeConnection: true }));
};
