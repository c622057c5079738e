import { createServer, type Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import type { Logger } from '@framelane/service-kit/logger';
import { stopInOrder } from '@framelane/service-kit/shutdown';
import { createApp, createInternalApp } from './app.ts';
import type { EngineConfig } from './config.ts';
import { createContext, type EngineContext } from './context.ts';

/** At a stop, running uploads may complete within this time. Then the engine aborts them, and their clients retry. */
const UPLOAD_GRACE_MS = 10_000;

/** Time to clean up aborted uploads: delete stored bytes, release the tickets, respond to the clients. */
const CLEANUP_TIMEOUT_MS = 10_000;

/** Time to stop running transcodes and hand their attempts back. */
const WORKER_TIMEOUT_MS = 10_000;

/** Time to send the last responses. */
const CLOSE_GRACE_MS = 3_000;

const HTTP_OPTIONS = {
  // An upload may take any time. Only the throughput limit ends it.
  requestTimeout: 0,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
};

/** Receives uploads and transcodes videos. It keeps no state: any number of engines may run. */
export class Engine {
  readonly #context: EngineContext;
  readonly #server: Server;
  readonly #internalServer: Server;

  /** Builds an engine. Nothing runs before `start`. */
  static create(
    config: EngineConfig,
    deps: { bus: MessageBus; objects: ObjectStore; logger: Logger },
  ): Engine {
    return new Engine(createContext(config, deps));
  }

  private constructor(context: EngineContext) {
    this.#context = context;
    const app = createApp(context);
    this.#server = createServer(HTTP_OPTIONS, app);
    // Without a listener, Node itself sends "100 Continue" before the upload is authorized.
    this.#server.on('checkContinue', app);
    this.#internalServer = createServer(createInternalApp(context));
  }

  /**
   * Resolves with the ports once the engine accepts uploads and transcodes. Throws a SettingsError when a port is in use or
   * ffmpeg is missing; nothing runs then.
   */
  async start(): Promise<{ port: number; internalPort: number }> {
    const { config, worker, logger } = this.#context;
    countBuffersAsHeap();
    try {
      const port = await listen(this.#server, { ...config.http, variable: 'ENGINE_PORT' });
      const internalPort = await listen(this.#internalServer, {
        ...config.internalHttp,
        variable: 'ENGINE_INTERNAL_PORT',
      });
      await worker.start();
      logger.info('engine.started', { port, internalPort });
      return { port, internalPort };
    } catch (error) {
      await closeServer(this.#server, 0);
      await closeServer(this.#internalServer, 0);
      throw error;
    }
  }

  /** Lets running uploads complete within a limit and releases everything the engine holds. Never throws. */
  async stop(): Promise<void> {
    const { uploads, worker, logger } = this.#context;
    await stopInOrder(
      [
        {
          name: 'uploads',
          limitMs: UPLOAD_GRACE_MS + CLEANUP_TIMEOUT_MS,
          run: () => uploads.stop(UPLOAD_GRACE_MS),
        },
        { name: 'transcodes', limitMs: WORKER_TIMEOUT_MS, run: () => worker.stop() },
        {
          name: 'http',
          limitMs: CLOSE_GRACE_MS + 1_000,
          run: () => closeServer(this.#server, CLOSE_GRACE_MS),
        },
        { name: 'internal http', limitMs: 1_000, run: () => closeServer(this.#internalServer, 0) },
      ],
      logger,
    );
    logger.info('engine.stopped');
  }
}

/** The first V8 that supports the flag below. */
const FIRST_V8 = 13;

/**
 * Counts buffers as part of the heap when V8 decides whether to collect garbage. Otherwise V8 marks all live objects after
 * every few megabytes of buffers. An upload consists of buffers, and that marking took 40 % of its CPU time.
 */
function countBuffersAsHeap(): void {
  if (Number.parseInt(process.versions.v8, 10) < FIRST_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
