import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { closeServer, createHttpServer, listen } from '@framelane/service-kit/http-server';
import { type StopPhase, stopInOrder } from '@framelane/service-kit/shutdown';
import { createApp, createInternalApp } from './app.ts';
import type { EngineConfig } from './config.ts';
import { createContext, type EngineContext, type EngineDeps } from './context.ts';

/** Time to clean up aborted uploads: delete stored bytes, release the tickets, respond to the clients. */
const CLEANUP_TIMEOUT_MS = 10_000;

/** Time to stop running transcodes and hand their tasks back. */
const WORKER_TIMEOUT_MS = 10_000;

/** Time to send the last responses. */
const CLOSE_GRACE_MS = 3_000;

/** Time limits of the phases after that work, in milliseconds. */
const CLOSE_LIMITS_MS = { http: CLOSE_GRACE_MS + 1_000, announcements: 1_000, internalHttp: 1_000 };

/** Maximum duration of an engine's stop. A supervisor must wait longer than this before it kills the process. */
export function stopLimitMs({ roles, uploads }: EngineConfig): number {
  const drainMs = roles.includes('upload') ? uploads.drainSeconds * 1000 : 0;
  const { http, announcements, internalHttp } = CLOSE_LIMITS_MS;
  return Math.max(drainMs + CLEANUP_TIMEOUT_MS, WORKER_TIMEOUT_MS) + http + announcements + internalHttp;
}

const HTTP_OPTIONS = {
  // Otherwise Node sends "100 Continue" before the upload is authorized.
  writesContinue: true,
  // An upload may take any time. Only the throughput limit ends it.
  requestTimeout: 0,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
};

/** Receives uploads and fetches imports, transcodes videos, or both. It keeps no state: any number of engines may run. */
export class Engine {
  readonly #context: EngineContext;
  /** Undefined if this engine receives no uploads. */
  readonly #server: Server | undefined;
  readonly #internalServer: Server;

  /** Builds an engine. Nothing runs before `start`. */
  static create(config: EngineConfig, deps: EngineDeps): Engine {
    return new Engine(createContext(config, deps));
  }

  private constructor(context: EngineContext) {
    this.#context = context;
    const { uploads, resumableUploads } = context;
    if (uploads && resumableUploads) {
      this.#server = createHttpServer(createApp(context, { uploads, resumableUploads }), HTTP_OPTIONS);
    }
    this.#internalServer = createHttpServer(createInternalApp(context));
  }

  /**
   * Resolves with the ports once the engine works in its roles. `port` is undefined if it receives no uploads. Throws a
   * SettingsError when a port is in use or ffmpeg, which only the role `transcode` needs, is missing; nothing runs then.
   */
  async start(): Promise<{ port: number | undefined; internalPort: number }> {
    const { config, worker, imports, announcements, logger } = this.#context;
    const { roles } = config;
    countBuffersAsHeap();
    try {
      const port = this.#server && (await listen(this.#server, { ...config.http, variable: 'ENGINE_PORT' }));
      const internalPort = await listen(this.#internalServer, {
        ...config.internalHttp,
        variable: 'ENGINE_INTERNAL_PORT',
      });
      await worker?.start();
      imports?.start();
      announcements.start(internalPort);
      logger.info('engine.started', { roles, port, internalPort });
      return { port, internalPort };
    } catch (error) {
      await this.#closePublic(0);
      await closeServer(this.#internalServer, 0);
      throw error;
    }
  }

  /**
   * Refuses new uploads, claims no more imports and hands transcodes back, all at once. Resumable uploads pause. Form uploads and
   * imports in progress may complete within UPLOAD_DRAIN_SECONDS. Then releases everything the engine holds. Never throws.
   */
  async stop(): Promise<void> {
    const { config, uploads, resumableUploads, imports, worker, announcements, logger } = this.#context;
    // First: from here on, the readiness check fails.
    uploads?.close();
    imports?.close();
    announcements.stopping();
    const drainMs = config.uploads.drainSeconds * 1000;
    const phases: StopPhase[] = [];
    const limitMs = drainMs + CLEANUP_TIMEOUT_MS;
    if (uploads) {
      phases.push({ name: 'uploads', limitMs, run: () => uploads.drain(drainMs) });
    }
    if (imports) {
      phases.push({ name: 'imports', limitMs, run: () => imports.drain(drainMs) });
    }
    if (resumableUploads) {
      const run = () => resumableUploads.stop();
      phases.push({ name: 'resumable uploads', limitMs, run });
    }
    if (worker) phases.push({ name: 'transcodes', limitMs: WORKER_TIMEOUT_MS, run: () => worker.stop() });
    const work = Promise.all(phases.map((phase) => stopInOrder([phase], logger)));
    // Closes the listener at once: a gateway can retry a refused connection at another engine, but not a refused request with a body.
    const closed = this.#closePublic(CLOSE_GRACE_MS, work);
    await work;
    await stopInOrder(
      [
        { name: 'http', limitMs: CLOSE_LIMITS_MS.http, run: () => closed },
        { name: 'announcements', limitMs: CLOSE_LIMITS_MS.announcements, run: () => announcements.stop() },
        {
          name: 'internal http',
          limitMs: CLOSE_LIMITS_MS.internalHttp,
          run: () => closeServer(this.#internalServer, 0),
        },
      ],
      logger,
    );
    logger.info('engine.stopped');
  }

  async #closePublic(graceMs: number, work?: Promise<unknown>): Promise<void> {
    if (this.#server) await closeServer(this.#server, graceMs, work);
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
