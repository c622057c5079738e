import { liveness, readiness } from '@framelane/service-kit/health';
import {
  embeddableAnywhere,
  problemHandler,
  refuseUnstorablePath,
  requestId,
  routeNotFound,
  securityHeaders,
} from '@framelane/service-kit/middleware';
import { closeOnUnreadBody } from '@framelane/service-kit/unread-body';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express';
import { analyticsRoutes } from './analytics/analytics.routes.ts';
import { apiKeyRoutes } from './api-keys/api-keys.routes.ts';
import { recordActor } from './audit/actor-of-request.ts';
import { auditRoutes } from './audit/audit.routes.ts';
import { autoCaptionsRoutes } from './auto-captions/auto-captions.routes.ts';
import { captionsRoutes } from './captions/captions.routes.ts';
import { chapterRoutes } from './chapters/chapters.routes.ts';
import { clipRoutes } from './clips/clips.routes.ts';
import { consolePage } from './console/console-page.ts';
import { consoleSessionRoutes } from './console-sessions/console-sessions.routes.ts';
import type { Context } from './context.ts';
import { DocsSite } from './docs-site/docs-site.ts';
import { downloadRoutes } from './downloads/downloads.routes.ts';
import { embedRoutes } from './embed/embed.routes.ts';
import { controlPlanePart, loadContract, pairOperations, type Route } from './http/contract.ts';
import { EntityTags, taggedBody } from './http/entity-tags.ts';
import { translateHttpError } from './http/problems.ts';
import { requestValidation } from './http/request-validation.ts';
import { traceOperations } from './http/trace-operations.ts';
import { importRoutes } from './imports/imports.routes.ts';
import { openIdRoutes } from './openid/openid.routes.ts';
import { pictureRoutes } from './pictures/pictures.routes.ts';
import { playbackCors, playbackRoutes, playlistCompression } from './playback/playback.routes.ts';
import { viewerReader } from './playback/viewer.ts';
import { posterRoutes } from './posters/posters.routes.ts';
import { referencePage } from './reference-page/reference-page.ts';
import { requestLogRoutes } from './request-log/request-log.routes.ts';
import { systemRoutes } from './system/system.routes.ts';
import { uploadTicketRoutes } from './upload-tickets/upload-tickets.routes.ts';
import { usageRoutes } from './usage/usage.routes.ts';
import { sourceRoutes } from './videos/sources.routes.ts';
import { videoRoutes } from './videos/videos.routes.ts';
import { watermarkRoutes } from './watermarks/watermarks.routes.ts';
import { eventRoutes } from './webhooks/events.routes.ts';
import { webhookRoutes } from './webhooks/webhooks.routes.ts';

/** The public application. Every request passes its middleware in this order. */
export function createApp(context: Context): Express {
  const { config, logger, addresses } = context;
  const contract = loadContract(addresses);
  const document = taggedBody(JSON.stringify(contract));
  const served = controlPlanePart(contract);
  const reference = referencePage(addresses.baseUrl);
  const validation = requestValidation(served, context.authenticate);
  const routes = pairOperations(served, {
    getOpenApiDocument: (_req, res) => document(res.type('json')),
    getReferencePage: reference.page,
    ...handlers(context, new EntityTags(contract)),
  });
  const app = express();
  app.disable('x-powered-by');
  // Express must not add ETags: handlers set those that the contract describes.
  app.disable('etag');
  app.set('trust proxy', [...config.trustedProxies]);
  app.use(closeOnUnreadBody, requestId, context.countRequests, securityHeaders, refuseUnstorablePath);
  app.get('/healthz', liveness());
  app.get('/readyz', readiness(context.checks));
  app.use(
    '/v1/hls',
    asOne(
      context.bandwidth.count,
      context.segmentRequests.count,
      embeddableAnywhere,
      playbackCors,
      playlistCompression,
    ),
  );
  app.use('/v1/docs', reference.files);
  app.use(['/v1/embed', '/v1/oembed'], asOne(embeddableAnywhere, playbackCors));
  app.use('/v1/embed/files', context.playerPage.files());
  if (context.openIdSignIn !== undefined) {
    const { sessionCookie: cookie, failures, openIdSignIn: signIn } = context;
    app.use(
      '/console/sign-in',
      openIdRoutes({ signIn, cookie, failures, logger, publicUrl: config.publicUrl }),
    );
  }
  app.use(
    '/console',
    consolePage(context.consoleFrontEnd, {
      publicUrl: config.publicUrl,
      engineUrl: addresses.engineUrl,
      providerName: config.openId?.name,
      adminCommand: context.adminCommand,
    }),
  );
  const recorder = context.requestRecorder;
  const recording = recorder === undefined ? [] : [recorder.handler(served)];
  const tracing = traceOperations(context.tracing);
  app.use('/v1', asOne(noStore, ...recording, ...validation, ...tracing, recordActor, toRouter(routes)));
  const docs = new DocsSite(context.docsFrontEnd, config.publicUrl);
  app.use('/docs', docs.pages());
  app.get(['/llms.txt', '/llms-full.txt'], docs.forLanguageModels());
  app.use(routeNotFound);
  app.use(problemHandler(logger, config.publicUrl, translateHttpError));
  return app;
}

/** The handlers of all domains, by operation. */
function handlers(context: Context, entityTags: EntityTags) {
  const { config, addresses, idempotent } = context;
  const viewerOf = viewerReader({ authenticate: context.authenticate, cookie: context.sessionCookie });
  return {
    ...apiKeyRoutes(context.keys, config.publicUrl, idempotent),
    ...consoleSessionRoutes({
      sessions: context.consoleSessions,
      cookie: context.sessionCookie,
      failures: context.failures,
      publicUrl: config.publicUrl,
    }),
    ...systemRoutes(context.system),
    ...usageRoutes(context.usage),
    ...analyticsRoutes(context.analytics, context.beacons, config.analytics),
    ...uploadTicketRoutes(context.tickets, addresses, idempotent),
    ...sourceRoutes(context.sources),
    ...clipRoutes(context.clips, addresses.baseUrl, idempotent),
    ...importRoutes(context.imports, context.importGuard, addresses.baseUrl, idempotent),
    ...videoRoutes({ videos: context.videos, publicUrl: config.publicUrl, entityTags, idempotent }),
    ...captionsRoutes(context.captions),
    ...chapterRoutes(context.chapters),
    ...posterRoutes(context.posters),
    ...watermarkRoutes(context.watermarks, addresses.baseUrl, idempotent),
    ...webhookRoutes(
      context.webhooks,
      { publicUrl: config.publicUrl, baseUrl: addresses.baseUrl },
      idempotent,
    ),
    ...eventRoutes(context.eventList, { publicUrl: config.publicUrl }),
    ...requestLogRoutes(context.requestLog, { publicUrl: config.publicUrl }),
    ...auditRoutes(context.audit, { publicUrl: config.publicUrl }),
    ...embedRoutes(context.embed, context.playerPage),
    ...playbackRoutes({
      playback: context.playback,
      captions: context.captionsPlayback,
      chapters: context.chaptersPlayback,
      access: context.playbackAccess,
      viewerOf,
      idempotent,
    }),
    ...autoCaptionsRoutes(context.autoCaptions, idempotent),
    ...pictureRoutes({ pictures: context.pictures, access: context.playbackAccess, viewerOf }),
    ...downloadRoutes({ downloads: context.downloads, access: context.playbackAccess, viewerOf, idempotent }),
  };
}

/** Responses are private to the client unless a handler says otherwise. */
const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

/** Combines handlers in one router, so that Express matches the path once. */
function asOne(...handlers: (RequestHandler | ErrorRequestHandler)[]): Router {
  return Router().use(...handlers);
}

function toRouter(routes: readonly Route[]): Router {
  const router = Router();
  for (const { method, path, handler } of routes) router[method](path, handler);
  return router;
}
