import { liveness } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type Express, type RequestHandler } from 'express';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import { translateHttpError } from '../http/problems.ts';
import type { TokenGuessLimit } from '../rate-limits/token-guess-limit.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';
import { internalApi } from './internal-api.routes.ts';
import { serviceAuthentication } from './service-authentication.ts';

/** The application on the internal listener. */
export function createInternalApp(deps: {
  logger: Logger;
  tickets: UploadTicketsService;
  attempts: AttemptsService;
  tokenGuesses: TokenGuessLimit;
  secret: string;
  countRequests: RequestHandler;
  metrics: RequestHandler;
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(closeOnUnreadBody);
  // Whoever reaches this listener may read these: they name no one, and probes and Prometheus bring no credential.
  app.get('/healthz', liveness());
  app.get('/metrics', deps.metrics);
  app.use(requestId, deps.countRequests, serviceAuthentication(deps.secret), express.json());
  app.use(internalApi(deps.tickets, deps.attempts, deps.tokenGuesses));
  app.use(routeNotFound, problemHandler(deps.logger, translateHttpError));
  return app;
}
