import { liveness } from '@framelane/service-kit/health';
import { metricsEndpoint } from '@framelane/service-kit/metrics';
import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type Express } from 'express';
import type { Context } from './context.ts';
import { jsonBody } from './http/json-body.ts';
import { translateHttpError } from './http/problems.ts';
import { traceInternalRequests } from './http/trace-operations.ts';
import { internalApi } from './internal-api/internal-api.routes.ts';
import { serviceAuthentication } from './internal-api/service-authentication.ts';

/** The request that stores a plan is large: the plan contains the captions of the video. */
const MAX_BODY_BYTES = 16 * 1024 ** 2;

/** The application on the internal listener. */
export function createInternalApp(context: Context): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(closeOnUnreadBody);
  // Without authentication: probes and Prometheus have no credentials, and these responses contain no personal data.
  app.get('/healthz', liveness());
  app.get(
    '/metrics',
    metricsEndpoint(context.metrics.registry, () => context.stateMetrics.refresh()),
  );
  app.use(
    requestId,
    context.countRequests,
    serviceAuthentication(context.config.secrets.service),
    ...traceInternalRequests(context.tracing),
    jsonBody(MAX_BODY_BYTES),
  );
  app.use(internalApi(context, context.tokenGuesses));
  app.use(routeNotFound, problemHandler(context.logger, context.config.publicUrl, translateHttpError));
  return app;
}
