import type { Server, ServerOptions } from 'node:http';
import type { Consumer } from '@framelane/message-bus/message-bus';
import { closeServer, createHttpServer, listen } from '@framelane/service-kit/http-server';
import { stopInOrder } from '@framelane/service-kit/shutdown';
import { PERMISSIONS } from './api-keys/permissions.ts';
import { createApp } from './app.ts';
import type { ControlPlaneConfig } from './config.ts';
import type { ConsoleLink } from './console-sessions/console-sessions.service.ts';
import { type Context, type ControlPlaneDeps, createContext } from './context.ts';
import { openDatabase, openMigrationPool } from './db/database.ts';
import { ENVIRONMENTS } from './db/environments.ts';
import { migrateToLatest } from './db/migrations.ts';
import { untilDatabase, waitForDatabase } from './db/wait-for-database.ts';
import { engineEventHandler } from './engine-events/engine-events.ts';
import { retryWhileUnavailable } from './engine-events/retry-while-unavailable.ts';
import { createInternalApp } from './internal-app.ts';
import { STOP_LIMITS_MS } from './stop-limits.ts';
import { type Bootstrapped, newWorkspace, WorkspacesService } from './workspaces/workspaces.service.ts';

/** Engine events that one control plane handles concurrently. */
const EVENT_PREFETCH = 16;

/** The control plane: owns all state, serves the public API and playback, and sends commands to the engines. */
export class ControlPlane {
  readonly #context: Context;
  readonly #publicServer: Server;
  readonly #internalServer: Server;
  readonly #stopping = new AbortController();
  #events: Consumer | undefined;

  /** Builds the service; nothing runs or connects before `start`. */
  static create(config: ControlPlaneConfig, deps: ControlPlaneDeps): ControlPlane {
    return new ControlPlane(createContext(config, deps));
  }

  constructor(context: Context) {
    this.#context = context;
    const connections = connectionLimits(context.config.requestSeconds);
    this.#publicServer = createHttpServer(createApp(context), connections);
    this.#internalServer = createHttpServer(createInternalApp(context), connections);
  }

  /**
   * Starts to serve requests and to do background work; call `migrate` first. Resolves with the ports once it accepts requests.
   * `alone` means that no other control plane and no engine runs and the queue is empty, as at the start of a single node: work
   * that an earlier process left in progress resumes at once.
   */
  async start({ alone = false } = {}): Promise<{ port: number; internalPort: number }> {
    await this.#untilDatabase(() => this.#prepareWork(alone));
    const { http, internalHttp } = this.#context.config;
    const internalPort = await listen(this.#internalServer, { ...internalHttp, variable: 'INTERNAL_PORT' });
    const port = await listen(this.#publicServer, { ...http, variable: 'PORT' });
    // The consumer starts before the maintenance loops: they must not end an attempt whose result is still in the queue.
    this.#events = await this.#context.bus.consume(
      'control-plane.events',
      { prefetch: EVENT_PREFETCH },
      retryWhileUnavailable(engineEventHandler(this.#context), {
        logger: this.#context.logger,
        stopping: this.#stopping.signal,
      }),
    );
    this.#context.leaseGrace.start();
    for (const loop of this.#context.loops) loop.start();
    this.#context.bandwidth.start();
    this.#context.requestRecorder?.start();
    this.#context.viewMeter.start();
    return { port, internalPort };
  }

  /**
   * Waits for the database and migrates it to the latest schema. Concurrent instances take turns. Throws a SettingsError if the
   * database refuses the connection.
   */
  async migrate(): Promise<void> {
    const { logger, starting } = this.#context;
    const pool = openMigrationPool(this.#context.config.databaseUrl, logger);
    const db = openDatabase(pool);
    try {
      await waitForDatabase(db, { logger, signal: starting });
      await this.#untilDatabase(() => migrateToLatest(db));
    } finally {
      await db.destroy();
    }
  }

  /**
   * Creates the workspace and the key of the configuration unless they exist. Without them, creates a workspace and a key if there is
   * no workspace. Call `migrate` first.
   */
  bootstrap(): Promise<Bootstrapped> {
    const workspaces = new WorkspacesService(this.#context);
    const generated = newWorkspace();
    return this.#untilDatabase(() => workspaces.bootstrap(this.#context.config.bootstrap, generated));
  }

  /** Creates a console sign-in link for an administrator, with every permission in every workspace. */
  createConsoleLink(name: string): Promise<ConsoleLink> {
    return this.#untilDatabase(() => this.#createConsoleLink(name));
  }

  async #createConsoleLink(name: string): Promise<ConsoleLink> {
    const workspaces = await new WorkspacesService(this.#context).list();
    const grants = workspaces.map(({ id }) => ({
      workspaceId: id,
      environments: ENVIRONMENTS,
      permissions: PERMISSIONS,
    }));
    return this.#context.consoleSessions.createLink({ name, administrator: true, grants });
  }

  /** Registers background work, and releases what an earlier process has left. */
  async #prepareWork(alone: boolean): Promise<void> {
    const { checks, maintenance, purges, commands, tasks, imports, engines } = this.#context;
    // Reads the clock of the database.
    await checks.database();
    await maintenance.register();
    // The secrets may have changed since the last start.
    await maintenance.scheduleNow('reseal-secrets');
    if (!alone) return;
    await maintenance.releaseClaims();
    await purges.releaseClaims();
    await tasks.endAllTries();
    for (const each of commands) await each.makeAllDue();
    await imports.releaseClaims();
    await engines.deleteAll();
  }

  #untilDatabase<T>(work: () => Promise<T>): Promise<T> {
    const { logger, starting } = this.#context;
    return untilDatabase(work, { logger, signal: starting });
  }

  /**
   * Stops in order: the public listener, the events of engines, the internal listener, background work, the bandwidth count and the reports of viewers,
   * the request log, the database.
   */
  async stop(): Promise<void> {
    this.#context.leaseGrace.stop();
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
            await Promise.all(this.#context.loops.map((loop) => loop.stop()));
          },
        },
        {
          name: 'bandwidth and views',
          limitMs: STOP_LIMITS_MS.bandwidth,
          run: async () => {
            await Promise.all([this.#context.bandwidth.stop(), this.#context.viewMeter.stop()]);
          },
        },
        {
          name: 'request log',
          limitMs: STOP_LIMITS_MS.requestLog,
          run: async () => this.#context.requestRecorder?.stop(),
        },
        { name: 'database', limitMs: STOP_LIMITS_MS.database, run: () => this.#context.db.destroy() },
      ],
      this.#context.logger,
    );
  }
}

/** Time limits for receiving a request; its head has two thirds of the time. */
function connectionLimits(requestSeconds: number): ServerOptions {
  return {
    requestTimeout: requestSeconds * 1000,
    headersTimeout: Math.round((requestSeconds * 2000) / 3),
    connectionsCheckingInterval: Math.round((requestSeconds * 1000) / 6),
  };
}
