import { createServer, type Server, type ServerOptions } from 'node:http';
import { SealingKeys } from '@framelane/contracts/sealing';
import type { Consumer, MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ReadinessChecks } from '@framelane/service-kit/health';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import type { Logger } from '@framelane/service-kit/logger';
import { countRequests, metricsEndpoint } from '@framelane/service-kit/metrics';
import { stopInOrder } from '@framelane/service-kit/shutdown';
import { sql } from 'kysely';
import { getWhoami } from './account/account.routes.ts';
import { type Bootstrapped, bootstrap } from './account/bootstrap.ts';
import { apiKeyRoutes } from './api-keys/api-keys.routes.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { createApp } from './app.ts';
import { AttemptsService } from './attempts/attempts.service.ts';
import { TranscodeCommands } from './attempts/commands.service.ts';
import { authentication } from './auth/authentication.ts';
import { DueLoop } from './background/due-loop.ts';
import { Maintenance } from './background/maintenance.ts';
import { maintenanceSteps } from './background/maintenance-steps.ts';
import type { ControlPlaneConfig } from './config.ts';
import { type Database, openDatabase, openPatientPool, openPool } from './db/database.ts';
import { changingSchema, migrateToLatest } from './db/migrations.ts';
import { EngineContact } from './engine-events/engine-contact.ts';
import { engineEventHandler } from './engine-events/engine-events.ts';
import { waitForDatabase } from './engine-events/wait-for-database.ts';
import { controlPlanePart, loadContract, pairOperations } from './http/contract.ts';
import { requestValidation } from './http/request-validation.ts';
import { routeOf } from './http/route-of.ts';
import { IdempotencyService } from './idempotency/idempotency.service.ts';
import { idempotent } from './idempotency/idempotent.ts';
import { createInternalApp } from './internal-api/internal-app.ts';
import { type MaintenanceStep, Metrics } from './metrics/metrics.ts';
import { StateMetrics } from './metrics/state-metrics.ts';
import { playbackRoutes } from './playback/playback.routes.ts';
import { PlaybackService } from './playback/playback.service.ts';
import { PlaybackAccessService } from './playback/playback-access.service.ts';
import { FailureLimit } from './rate-limits/failure-limit.ts';
import { RequestLimit } from './rate-limits/request-limit.ts';
import { TokenGuessLimit } from './rate-limits/token-guess-limit.ts';
import { referencePage } from './reference-page/reference-page.ts';
import { ResealingService } from './sealed-values/resealing.service.ts';
import { STOP_LIMITS_MS } from './stop-limits.ts';
import { uploadTicketRoutes } from './upload-tickets/upload-tickets.routes.ts';
import { UploadTicketsService } from './upload-tickets/upload-tickets.service.ts';
import { BandwidthMeter } from './usage/bandwidth-meter.ts';
import { usageRoutes } from './usage/usage.routes.ts';
import { UsageService } from './usage/usage.service.ts';
import { ObjectPurges } from './videos/object-purges.service.ts';
import { VideoLifecycle } from './videos/video-lifecycle.ts';
import { videoRoutes } from './videos/videos.routes.ts';
import { VideosService } from './videos/videos.service.ts';
import { WebhookDeliveriesService } from './webhooks/deliveries.service.ts';
import { DeliverySender } from './webhooks/delivery-sender.ts';
import { EndpointGuard } from './webhooks/endpoint-guard.ts';
import { WebhookEndpointsService } from './webhooks/endpoints.service.ts';
import { WebhookEventsService } from './webhooks/events.service.ts';
import { type ResolveHost, resolveHost } from './webhooks/resolve-host.ts';
import { webhookRoutes } from './webhooks/webhooks.routes.ts';

/** Engine events handled at once by one control plane. */
const EVENT_PREFETCH = 16;

/** What lives outside the service and is handed in. */
export type ControlPlaneDeps = {
  bus: MessageBus;
  objects: ObjectStore;
  logger: Logger;
  /** What else must be there before a video can be taken in, as far as the host knows. */
  checks?: ReadinessChecks;
  /** Resolves the host names of webhook endpoints; by default it asks the name servers. */
  resolveHost?: ResolveHost;
};

/** The control plane: owns every state, serves the public API and the playlists, commands the engines. */
export class ControlPlane {
  readonly #config: ControlPlaneConfig;
  readonly #deps: ControlPlaneDeps;
  readonly #db: Database;
  readonly #commands: TranscodeCommands;
  readonly #purges: ObjectPurges;
  readonly #maintenance: Maintenance;
  /** The loops of the background work. */
  readonly #loops: readonly Pick<DueLoop<unknown>, 'start' | 'stop'>[];
  readonly #contact: EngineContact;
  readonly #tickets: UploadTicketsService;
  readonly #attempts: AttemptsService;
  readonly #bandwidth: BandwidthMeter;
  readonly #publicServer: Server;
  readonly #internalServer: Server;
  readonly #stopping = new AbortController();
  #events: Consumer | undefined;

  /** Builds the service; nothing runs or connects before `start`. */
  static create(config: ControlPlaneConfig, deps: ControlPlaneDeps): ControlPlane {
    return new ControlPlane(config, deps);
  }

  private constructor(config: ControlPlaneConfig, deps: ControlPlaneDeps) {
    const { bus, objects, logger } = deps;
    const baseUrl = `${config.publicUrl}/v1`;
    const addresses = { baseUrl, engineUrl: config.enginePublicUrl };
    const contentKeys = new SealingKeys(config.secrets.contentKey, config.secrets.previousContentKeys);
    const webhookKeys = contentKeys.derive('webhook secrets');
    const pool = openPool(config.databaseUrl, logger);
    const db = openDatabase(pool);
    const metrics = new Metrics();
    const checks = {
      database: async () => void (await sql`select 1`.execute(db)),
      queue: () => bus.check(),
      storage: () => objects.check(),
      ...deps.checks,
    };
    const contact = new EngineContact({
      check: () => Promise.all([checks.database(), checks.queue()]),
      shortestLeaseSeconds: Math.min(config.uploads.leaseSeconds, config.attempts.leaseSeconds),
    });

    const events = new WebhookEventsService(config.webhooks);
    const commands = new TranscodeCommands({ db, bus, logger });
    const purges = new ObjectPurges({ db, objects, stragglerSeconds: config.stragglerSeconds });
    const commandLoop = new DueLoop(commands, { logger });
    const purgeLoop = new DueLoop(purges, { logger });
    const onCommit = () => {
      commandLoop.wake();
      purgeLoop.wake();
    };
    const lifecycle = new VideoLifecycle({ db, logger, events, baseUrl, onCommit });
    const videos = new VideosService({ db, objects, lifecycle, baseUrl });
    const tickets = new UploadTicketsService({
      db,
      videos,
      lifecycle,
      logger,
      metrics,
      contact,
      limits: config.uploads,
      workspaceLimits: config.workspaceUploads,
      testVideoHours: config.testVideoHours,
    });
    const playback = new PlaybackService({ db, objects, contentKeys, settings: config.playback });
    const playbackAccess = new PlaybackAccessService({ db, videos, contentKeys, baseUrl });
    const usage = new UsageService({ db });
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
      usage,
      logger,
      metrics,
      contact,
      settings: { ...config.attempts, contentKeys },
    });

    const guard = new EndpointGuard({
      allowedRanges: config.webhooks.allowedRanges,
      resolveHost: deps.resolveHost ?? resolveHost,
    });
    const webhooks = new WebhookEndpointsService({ db, guard, sealingKeys: webhookKeys });
    const webhookDeliveries = new WebhookDeliveriesService({
      db,
      sender: new DeliverySender({ guard, timeoutSeconds: config.webhooks.timeoutSeconds }),
      logger,
      metrics,
      sealingKeys: webhookKeys,
      settings: config.webhooks,
    });

    const idempotency = new IdempotencyService({ db, logger });
    const resealing = new ResealingService({ db, logger, contentKeys, webhookKeys });
    const once = idempotent(db, idempotency);
    const maintenance = new Maintenance({
      db,
      logger,
      metrics,
      steps: maintenanceSteps({
        objects,
        videos,
        tickets,
        attempts,
        commands,
        webhookDeliveries,
        idempotency,
        resealing,
        reconcileSeconds: config.reconcileSeconds,
      }),
    });
    const stateMetrics = new StateMetrics(metrics.registry, {
      pool,
      bus,
      attempts,
      background: [commands, purges, maintenance],
      webhookDeliveries,
      resealing,
      logger,
    });

    const keys = new ApiKeysService({ db, logger });
    const authenticate = authentication(keys, {
      requests: new RequestLimit(config.rateLimits.requestsPerMinute),
      failures: new FailureLimit(config.rateLimits.failuresPerMinute),
    });
    const contract = loadContract(addresses);
    const reference = referencePage(baseUrl);
    const served = controlPlanePart(contract);
    const requestCount = countRequests(metrics.registry, routeOf);
    const app = createApp({
      logger,
      checks,
      trustedProxies: config.trustedProxies,
      countRequests: requestCount,
      countBandwidth: bandwidth.count,
      referenceFiles: reference.files,
      validation: requestValidation(served, authenticate, {
        validateResponses: config.validateResponses,
      }),
      routes: pairOperations(served, {
        getOpenApiDocument: (_req, res) => void res.json(contract),
        getReferencePage: reference.page,
        getWhoami,
        ...apiKeyRoutes(keys, config.publicUrl, once),
        ...usageRoutes(usage),
        ...uploadTicketRoutes(tickets, addresses, once),
        ...videoRoutes(videos, config.publicUrl, once),
        ...webhookRoutes(webhooks, { publicUrl: config.publicUrl, baseUrl }, once),
        ...playbackRoutes({ playback, access: playbackAccess, authenticate, idempotent: once }),
      }),
    });

    this.#config = config;
    this.#deps = deps;
    this.#db = db;
    this.#commands = commands;
    this.#purges = purges;
    this.#maintenance = maintenance;
    this.#loops = [
      commandLoop,
      purgeLoop,
      new DueLoop(webhookDeliveries, { logger }),
      new DueLoop(maintenance, { logger }),
    ];
    this.#contact = contact;
    this.#tickets = tickets;
    this.#attempts = attempts;
    this.#bandwidth = bandwidth;
    const connections = connectionLimits(config.requestSeconds);
    this.#publicServer = createServer(connections, app);
    this.#internalServer = createServer(
      connections,
      createInternalApp({
        logger,
        tickets,
        attempts,
        tokenGuesses: new TokenGuessLimit(config.rateLimits.failuresPerMinute),
        secret: config.secrets.service,
        countRequests: requestCount,
        metrics: metricsEndpoint(metrics.registry, () => stateMetrics.refresh()),
      }),
    );
  }

  /**
   * Serves requests and background work; call `migrate` first. Resolves with the ports once it accepts requests. `alone` says that
   * no other control plane and no engine is running and the queue is empty, as at the start of a single node: whatever was in
   * progress ended with an earlier process and resumes at once.
   */
  async start({ alone = false } = {}): Promise<{ port: number; internalPort: number }> {
    const { bus } = this.#deps;
    await this.#maintenance.register();
    // The secrets may have changed since the last start.
    await this.#maintenance.makeDue('reseal-secrets');
    if (alone) {
      await this.#maintenance.releaseClaims();
      await this.#purges.releaseClaims();
      await this.#attempts.restart();
      await this.#commands.restart();
    }
    const { http, internalHttp } = this.#config;
    const internalPort = await listen(this.#internalServer, { ...internalHttp, variable: 'INTERNAL_PORT' });
    const port = await listen(this.#publicServer, { ...http, variable: 'PORT' });
    // Before maintenance, which must not end an attempt whose result waits in the queue.
    this.#events = await bus.consume(
      'control-plane.events',
      { prefetch: EVENT_PREFETCH },
      waitForDatabase(engineEventHandler(this.#tickets, this.#attempts), {
        logger: this.#deps.logger,
        stopping: this.#stopping.signal,
      }),
    );
    this.#contact.start();
    for (const loop of this.#loops) loop.start();
    this.#bandwidth.start();
    return { port, internalPort };
  }

  /** Migrates the database to the latest schema. Instances that start at the same time do so one after another. */
  async migrate(): Promise<void> {
    const { logger } = this.#deps;
    const pool = openPatientPool(this.#config.databaseUrl, logger);
    const db = openDatabase(pool);
    try {
      await changingSchema(db, () => migrateToLatest(db));
    } finally {
      await db.destroy();
    }
  }

  /** Creates the first workspace and key if there are none. The database must have its schema. */
  bootstrap(): Promise<Bootstrapped> {
    return bootstrap(this.#db, this.#config.bootstrap);
  }

  /** Takes maintenance steps at once, beside their schedule. */
  maintain(...steps: MaintenanceStep[]): Promise<void> {
    return this.#maintenance.takeNow(steps);
  }

  /** Stops in order: no new requests, no new messages, no new background work, then the database. */
  async stop(): Promise<void> {
    this.#contact.stop();
    this.#stopping.abort();
    await stopInOrder(
      [
        {
          name: 'public listener',
          limitMs: STOP_LIMITS_MS.publicListener,
          run: () => closeServer(this.#publicServer, 5000),
        },
        {
          name: 'engine events',
          limitMs: STOP_LIMITS_MS.engineEvents,
          run: async () => this.#events?.stop(),
        },
        {
          name: 'internal listener',
          limitMs: STOP_LIMITS_MS.internalListener,
          run: () => closeServer(this.#internalServer, 2000),
        },
        {
          name: 'background work',
          limitMs: STOP_LIMITS_MS.background,
          run: async () => {
            await Promise.all(this.#loops.map((loop) => loop.stop()));
          },
        },
        { name: 'bandwidth', limitMs: STOP_LIMITS_MS.bandwidth, run: () => this.#bandwidth.stop() },
        { name: 'database', limitMs: STOP_LIMITS_MS.database, run: () => this.#db.destroy() },
      ],
      this.#deps.logger,
    );
  }
}

/** Limits of the time in which a request has to come, its head in two thirds of it. */
function connectionLimits(requestSeconds: number): ServerOptions {
  return {
    requestTimeout: requestSeconds * 1000,
    headersTimeout: Math.round((requestSeconds * 2000) / 3),
    connectionsCheckingInterval: Math.round((requestSeconds * 1000) / 6),
  };
}
