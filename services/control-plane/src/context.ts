import { AddressGuard } from '@framelane/address-guard/address-guard';
import { type ResolveHost, resolveHost } from '@framelane/address-guard/resolve-host';
import { SealingKeys } from '@framelane/contracts/sealing';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ReadinessChecks } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import { countRequests } from '@framelane/service-kit/metrics';
import type { FrontEnd as FrontEndName } from '@framelane/web-build/front-ends';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { AttemptsService } from './attempts/attempts.service.ts';
import { TranscodeCommands } from './attempts/commands.service.ts';
import { authentication } from './auth/authentication.ts';
import { SessionCookie } from './auth/session-cookie.ts';
import { DueLoop } from './background/due-loop.ts';
import { LeaseGrace } from './background/lease-grace.ts';
import { Maintenance } from './background/maintenance.ts';
import { CaptionsService } from './captions/captions.service.ts';
import type { ControlPlaneConfig } from './config.ts';
import { ConsolePeopleService } from './console-people/console-people.service.ts';
import { ConsoleSessionsService } from './console-sessions/console-sessions.service.ts';
import { checkDatabase, openDatabase, openPool } from './db/database.ts';
import { EmbedService } from './embed/embed.service.ts';
import { PlayerPage } from './embed/player-page.ts';
import { EnginesService } from './engines/engines.service.ts';
import { FrontEnd } from './front-ends/front-end.ts';
import { routeOf } from './http/request-validation.ts';
import { IdempotencyService } from './idempotency/idempotency.service.ts';
import { idempotent } from './idempotency/idempotent.ts';
import { ImportsService } from './imports/imports.service.ts';
import { maintenanceSteps } from './maintenance-steps.ts';
import { Metrics } from './metrics/metrics.ts';
import { StateMetrics } from './metrics/state-metrics.ts';
import { OpenIdProvider } from './openid/openid-provider.ts';
import { OpenIdSignInService } from './openid/openid-sign-in.service.ts';
import { CaptionsPlaybackService } from './playback/captions-playback.service.ts';
import { PlaybackService } from './playback/playback.service.ts';
import { PlaybackAccessService } from './playback/playback-access.service.ts';
import { PreviewsService } from './playback/previews.service.ts';
import { PostersService } from './posters/posters.service.ts';
import { QuotasService } from './quotas/quotas.service.ts';
import { FailureLimit } from './rate-limits/failure-limit.ts';
import { RequestLimit } from './rate-limits/request-limit.ts';
import { TokenGuessLimit } from './rate-limits/token-guess-limit.ts';
import { ResealingService } from './sealed-values/resealing.service.ts';
import { StoredReads } from './stored-files/stored-reads.ts';
import { SystemService } from './system/system.service.ts';
import { TaskCommands } from './tasks/task-commands.service.ts';
import { TasksService } from './tasks/tasks.service.ts';
import { ResumableUploadsService } from './upload-tickets/resumable-uploads.service.ts';
import { UploadTicketsService } from './upload-tickets/upload-tickets.service.ts';
import { BandwidthMeter } from './usage/bandwidth-meter.ts';
import { UsageService } from './usage/usage.service.ts';
import { ObjectPurges } from './videos/object-purges.service.ts';
import { SourcesService } from './videos/sources.service.ts';
import { VideoLifecycle } from './videos/video-lifecycle.ts';
import { VideosService } from './videos/videos.service.ts';
import { WebhookDeliveriesService } from './webhooks/deliveries.service.ts';
import { DeliverySender } from './webhooks/delivery-sender.ts';
import { WebhookEndpointsService } from './webhooks/endpoints.service.ts';
import { WebhookEventsService } from './webhooks/events.service.ts';

const MIB = 1024 ** 2;

/** What the process that runs the control plane provides. */
export type ControlPlaneDeps = {
  bus: MessageBus;
  objects: ObjectStore;
  logger: Logger;
  /** Additional readiness checks. */
  checks?: ReadinessChecks;
  /** Resolves the host names of webhook endpoints. Default: by DNS. Tests replace it. */
  resolveHost?: ResolveHost;
  /** Whether the build that this process started has failed; undefined if this process builds nothing. */
  pageBuildFailed?: (page: FrontEndName) => boolean;
};

/** All parts of the control plane, connected to each other. */
export type Context = ReturnType<typeof createContext>;

/** Builds the parts of a control plane. It opens no connection and starts nothing. */
export function createContext(config: ControlPlaneConfig, deps: ControlPlaneDeps) {
  const { bus, objects, logger } = deps;
  const baseUrl = `${config.publicUrl}/v1`;
  const addresses = { baseUrl, engineUrl: config.enginePublicUrl };
  const contentKeys = new SealingKeys(config.secrets.contentKey, config.secrets.previousContentKeys);
  const webhookKeys = contentKeys.derive('webhook secrets');
  const importKeys = contentKeys.derive('import requests');
  const pool = openPool(config.databaseUrl, logger);
  const db = openDatabase(pool);
  const metrics = new Metrics();
  const checks = {
    database: () => checkDatabase(db),
    queue: () => bus.check(),
    storage: () => objects.check(),
    ...deps.checks,
  };
  const leaseGrace = new LeaseGrace({
    check: () => Promise.all([checks.database(), checks.queue()]),
    shortestLeaseSeconds: Math.min(config.uploads.leaseSeconds, config.attempts.leaseSeconds),
  });

  const guard = new AddressGuard({
    allowedRanges: config.webhooks.allowedRanges,
    publicProtocols: ['https:'],
    resolveHost: deps.resolveHost ?? resolveHost,
  });
  const events = new WebhookEventsService(config.webhooks);
  const webhookDeliveries = new WebhookDeliveriesService({
    db,
    sender: new DeliverySender({ guard, timeoutSeconds: config.webhooks.timeoutSeconds }),
    logger,
    metrics,
    sealingKeys: webhookKeys,
    settings: config.webhooks,
  });
  const deliveryLoop = new DueLoop(webhookDeliveries, { logger });
  const commands = new TranscodeCommands({ db, bus, logger });
  const purges = new ObjectPurges({ db, objects, purgeRepeatSeconds: config.purgeRepeatSeconds });
  const commandLoop = new DueLoop(commands, { logger });
  const taskCommands = new TaskCommands({ db, bus, logger });
  const taskCommandLoop = new DueLoop(taskCommands, { logger });
  const purgeLoop = new DueLoop(purges, { logger });
  const onCommit = () => {
    commandLoop.wake();
    taskCommandLoop.wake();
    purgeLoop.wake();
    deliveryLoop.wake();
  };
  const lifecycle = new VideoLifecycle({ db, logger, events, baseUrl, onCommit });
  const quotas = new QuotasService({ db });
  const videos = new VideosService({
    db,
    objects,
    lifecycle,
    quotas,
    baseUrl,
    sourceRetentionDays: config.sourceRetentionDays,
  });
  const tickets = new UploadTicketsService({
    db,
    videos,
    quotas,
    lifecycle,
    logger,
    metrics,
    leaseGrace,
    limits: config.uploads,
    workspaceLimits: config.workspaceUploads,
    testVideoHours: config.testVideoHours,
  });
  const imports = new ImportsService({
    db,
    tickets,
    videos,
    lifecycle,
    logger,
    metrics,
    leaseGrace,
    sealingKeys: importKeys,
    limits: { timeoutSeconds: config.importTimeoutSeconds, leaseSeconds: config.uploads.leaseSeconds },
  });
  const resumableUploads = new ResumableUploadsService({
    db,
    quotas,
    limits: config.uploads,
    workspaceLimits: config.workspaceUploads,
    filesUrl: `${config.enginePublicUrl}/files`,
  });
  const reads = new StoredReads({ objects, metrics, cacheBytes: config.segmentCacheMib * MIB });
  const previews = new PreviewsService({ db, objects, logger, metrics });
  const playback = new PlaybackService({
    db,
    objects,
    reads,
    previews,
    contentKeys,
    settings: config.playback,
  });
  const captions = new CaptionsService({ db, lifecycle, playback, quotas, logger });
  const posters = new PostersService({ lifecycle, videos, quotas });
  const sources = new SourcesService({
    db,
    objects,
    reads,
    lifecycle,
    redirects: config.playback.mode === 'redirect',
  });
  const playbackAccess = new PlaybackAccessService({ db, videos, contentKeys, baseUrl });
  const embed = new EmbedService({
    videos,
    access: playbackAccess,
    playback,
    baseUrl,
    frameOrigins: config.embedOrigins,
  });
  const playerPage = new PlayerPage(baseUrl, new FrontEnd('player', deps.pageBuildFailed));
  const usage = new UsageService({ db, quotas });
  const bandwidth = new BandwidthMeter({
    db,
    logger,
    metrics,
    flushSeconds: config.usageFlushSeconds,
  });
  const attempts = new AttemptsService({
    db,
    lifecycle,
    playback,
    captions,
    usage,
    logger,
    metrics,
    leaseGrace,
    settings: { ...config.attempts, contentKeys },
  });
  const tasks = new TasksService({
    db,
    lifecycle,
    attempts,
    previews,
    logger,
    metrics,
    leaseGrace,
    settings: { ...config.attempts, contentKeys },
  });

  const webhooks = new WebhookEndpointsService({
    db,
    guard,
    sealingKeys: webhookKeys,
    onDelivery: () => deliveryLoop.wake(),
  });

  const engines = new EnginesService({ db });
  const consoleSessions = new ConsoleSessionsService({ db, logger, publicUrl: config.publicUrl });
  const openIdSignIn =
    config.openId &&
    new OpenIdSignInService({
      provider: new OpenIdProvider(config.openId, `${config.publicUrl}/console/sign-in/callback`),
      sealingKeys: contentKeys.derive('console sign-ins'),
      people: new ConsolePeopleService({ db }),
      sessions: consoleSessions,
    });
  const idempotency = new IdempotencyService({ db, logger });
  const resealing = new ResealingService({ db, logger, contentKeys, webhookKeys, importKeys });
  const maintenance = new Maintenance({
    db,
    logger,
    metrics,
    steps: maintenanceSteps({
      objects,
      videos,
      tickets,
      imports,
      attempts,
      commands,
      tasks,
      taskCommands,
      webhookDeliveries,
      idempotency,
      consoleSessions,
      usage,
      resealing,
      engines,
      maintenanceSeconds: config.maintenanceSeconds,
    }),
  });
  const stateMetrics = new StateMetrics(metrics.registry, {
    pool,
    bus,
    attempts,
    tasks,
    imports,
    background: [commands, taskCommands, purges, maintenance],
    webhookDeliveries,
    resealing,
    logger,
  });

  const system = new SystemService({
    db,
    bus,
    objects,
    checks,
    engines,
    attempts,
    imports,
    webhookDeliveries,
    logger,
  });

  const keys = new ApiKeysService({ db, logger });
  const sessionCookie = new SessionCookie(config.publicUrl);
  const failures = new FailureLimit(config.rateLimits.failuresPerMinute);
  const authenticate = authentication({ keys, sessions: consoleSessions }, sessionCookie, {
    requests: new RequestLimit(config.rateLimits.requestsPerMinute),
    failures,
  });

  return {
    config,
    bus,
    logger,
    addresses,
    db,
    checks,
    leaseGrace,
    commands,
    tasks,
    taskCommands,
    purges,
    maintenance,
    videos,
    captions,
    posters,
    sources,
    tickets,
    imports,
    resumableUploads,
    playback,
    captionsPlayback: new CaptionsPlaybackService(db),
    playbackAccess,
    embed,
    playerPage,
    consoleFrontEnd: new FrontEnd('console', deps.pageBuildFailed),
    usage,
    bandwidth,
    attempts,
    engines,
    webhooks,
    idempotent: idempotent(db, idempotency),
    stateMetrics,
    system,
    keys,
    consoleSessions,
    openIdSignIn,
    sessionCookie,
    failures,
    authenticate,
    metrics,
    /** One loop for each kind of background work. */
    loops: [commandLoop, taskCommandLoop, purgeLoop, deliveryLoop, new DueLoop(maintenance, { logger })],
    countRequests: countRequests(metrics.registry, routeOf),
    tokenGuesses: new TokenGuessLimit(config.rateLimits.failuresPerMinute),
  };
}
