import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/express';
import type { Logger } from '@framelane/service-kit/logger';
import express, { type Express } from 'express';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import { translateHttpError } from '../http/problems.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';
import { internalApi } from './internal-api.routes.ts';
import { serviceAuthentication } from './service-authentication.ts';

/** The application on the internal listener. */
export function createInternalApp(deps: {
  logger: Logger;
  tickets: UploadTicketsService;
  attempts: AttemptsService;
  secret: string;
}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requestId, serviceAuthentication(deps.secret), express.json());
  app.use(internalApi(deps.tickets, deps.attempts));
  app.use(routeNotFound, problemHandler(deps.logger, translateHttpError));
  return app;
}
