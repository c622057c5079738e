import { createServer, type Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import type { Logger } from '@framelane/service-kit/logger';
import { countRequests, metricsEndpoint } from '@framelane/service-kit/metrics';
import { stopInOrder } from '@framelane/service-kit/shutdown';
import { createApp } from './app.ts';
import type { EngineConfig } from './config.ts';
import { ControlPlaneClient } from './control-plane-client.ts';
import { createInternalApp } from './internal-app.ts';
import { EngineMetrics } from './metrics/engine-metrics.ts';
import { TranscodeWorker } from './transcode/transcode-worker.ts';
import { StorageHeadroom } from './uploads/storage-headroom.ts';
import { Uploads } from './uploads/uploads.ts';

/** Files on their way at a stop get this long to arrive, then their clients are sent away to try again. */
const UPLOAD_GRACE_MS = 10_000;

/** Time to break transfers off: remove what is stored, free the tickets, answer the clients. */
const UNDO_LIMIT_MS = 10_000;

/** Time to end what is being transcoded and hand it back. */
const WORKER_LIMIT_MS = 10_000;

/** Time for the last answers to leave. */
const CLOSE_GRACE_MS = 3_000;

/** How the HTTP server treats connections. */
const HTTP_OPTIONS = {
  // An upload may take as long as it gets on; only its pace is judged.
  requestTimeout: 0,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
};

/** Takes uploads and transcodes. Keeps no state: any number of engines may run. */
export class Engine {
  readonly #config: EngineConfig;
  readonly #logger: Logger;
  readonly #uploads: Uploads;
  readonly #worker: TranscodeWorker;
  readonly #server: Server;
  readonly #internalServer: Server;

  /** Puts the service together; it does nothing before `start`. */
  static create(
    config: EngineConfig,
    deps: { bus: MessageBus; objects: ObjectStore; logger: Logger },
  ): Engine {
    return new Engine(config, deps);
  }

  private constructor(config: EngineConfig, deps: { bus: MessageBus; objects: ObjectStore; logger: Logger }) {
    const { bus, objects, logger } = deps;
    this.#config = config;
    this.#logger = logger;
    const controlPlane = new ControlPlaneClient({
      baseUrl: config.controlPlaneUrl,
      secret: config.secrets.service,
    });
    const metrics = new EngineMetrics(config.transcode);
    const room = new StorageHeadroom(objects);
    this.#uploads = new Uploads({
      ...{ controlPlane, objects, bus, logger, metrics, room },
      limits: config.uploads,
    });
    this.#worker = new TranscodeWorker({
      bus,
      objects,
      controlPlane,
      logger,
      metrics,
      settings: config.transcode,
    });
    const checks = {
      uploads: () => this.#uploads.check(),
      controlPlane: () => controlPlane.check(),
      objectStore: () => objects.check(),
      disk: () => room.check(),
      messageBus: () => bus.check(),
    };
    const app = createApp({
      checks,
      trustedProxies: config.trustedProxies,
      countRequests: countRequests(metrics.registry, (req) => req.route?.path),
      uploads: this.#uploads,
      logger,
    });
    this.#server = createServer(HTTP_OPTIONS, app);
    // Without a listener Node would say "100 Continue" itself, before the upload has asked whether it may.
    this.#server.on('checkContinue', app);
    this.#internalServer = createServer(
      createInternalApp({ checks, metrics: metricsEndpoint(metrics.registry), logger }),
    );
  }

  /**
   * Resolves with the ports once uploads can be sent and videos are transcoded. Throws a SettingsError when a port is
   * taken, or what the worker throws when it has no ffmpeg; nothing runs then.
   */
  async start(): Promise<{ port: number; internalPort: number }> {
    const { http, internalHttp } = this.#config;
    countBuffersAsHeap();
    try {
      const port = await listen(this.#server, { ...http, variable: 'ENGINE_PORT' });
      const internalPort = await listen(this.#internalServer, {
        ...internalHttp,
        variable: 'ENGINE_INTERNAL_PORT',
      });
      await this.#worker.start();
      this.#logger.info('engine.started', { port, internalPort });
      return { port, internalPort };
    } catch (error) {
      await closeServer(this.#server, 0);
      await closeServer(this.#internalServer, 0);
      throw error;
    }
  }

  /** Lets files arrive that are on their way, within limits, and frees everything it holds. Never throws. */
  async stop(): Promise<void> {
    await stopInOrder(
      [
        {
          name: 'uploads',
          limitMs: UPLOAD_GRACE_MS + UNDO_LIMIT_MS,
          run: () => this.#uploads.stop(UPLOAD_GRACE_MS),
        },
        { name: 'transcodes', limitMs: WORKER_LIMIT_MS, run: () => this.#worker.stop() },
        {
          name: 'http',
          limitMs: CLOSE_GRACE_MS + 1_000,
          run: () => closeServer(this.#server, CLOSE_GRACE_MS),
        },
        { name: 'internal http', limitMs: 1_000, run: () => closeServer(this.#internalServer, 0) },
      ],
      this.#logger,
    );
    this.#logger.info('engine.stopped');
  }
}

/** The first V8 that knows the flag below. */
const FIRST_V8 = 13;

/**
 * Counts buffers as part of the heap when V8 decides whether to collect garbage. Otherwise V8 marks all live objects after
 * every few megabytes of buffers. An upload consists of buffers, and that marking took 40 % of its CPU time.
 */
function countBuffersAsHeap(): void {
  if (Number.parseInt(process.versions.v8, 10) < FIRST_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
