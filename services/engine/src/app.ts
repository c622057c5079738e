import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { problemHandler, requestId, routeNotFound } from '@framelane/service-kit/express';
import type { Logger } from '@framelane/service-kit/logger';
import { readiness } from '@framelane/service-kit/readiness';
import { securityHeaders } from '@framelane/service-kit/security-headers';
import express, { type Express } from 'express';
import type { ControlPlaneClient } from './control-plane-client.ts';
import { refuseUnreadBody } from './refuse-body.ts';
import { uploadRoutes } from './uploads/upload.routes.ts';
import type { Uploads } from './uploads/uploads.ts';

/** The engine's application: what every request passes, in order. */
export function createApp(deps: {
  controlPlane: ControlPlaneClient;
  objects: ObjectStore;
  bus: MessageBus;
  uploads: Uploads;
  logger: Logger;
}): Express {
  const { controlPlane, objects, bus, uploads, logger } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(requestId, securityHeaders);
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get(
    '/readyz',
    readiness({
      controlPlane: () => controlPlane.check(),
      objectStore: () => objects.check(),
      messageBus: () => bus.check(),
    }),
  );
  app.use(uploadRoutes(uploads));
  app.use(routeNotFound);
  app.use(refuseUnreadBody);
  app.use(problemHandler(logger));
  return app;
}
