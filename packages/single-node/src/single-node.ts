import { ControlPlane } from '@framelane/control-plane/control-plane';
import { STOP_LIMIT_MS } from '@framelane/control-plane/stop-limits';
import { Engine, stopLimitMs } from '@framelane/engine/engine';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { RabbitMqBus } from '@framelane/message-bus/rabbitmq-bus';
import { assertPortFree } from '@framelane/service-kit/http-server';
import type { Logger } from '@framelane/service-kit/logger';
import { type StopPhase, stopInOrder } from '@framelane/service-kit/shutdown';
import { startTracing } from '@framelane/service-kit/start-tracing';
import { reportUnavailable } from '@framelane/service-kit/until-available';
import { FRONT_ENDS } from '@framelane/web-build/front-ends';
import { publicAdminCommand } from './admin-command.ts';
import { lockDataDir, makeDataDir } from './data-dir.ts';
import type { Installation } from './installation.ts';
import { objectStoreOf } from './object-store.ts';
import { startPageBuild } from './page-build.ts';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { POSTGRES_STOP_MS } from './postgres/postmaster.ts';
import { makeSampleVideo } from './sample-video.ts';
import { readOrCreateSecrets } from './secrets.ts';
import { controlPlaneConfigOf, engineConfigOf } from './service-configs.ts';
import { INTERNAL_HOST, type SingleNodeSettings } from './settings.ts';

/** The result of a start. */
export type StartedNode = {
  workspaceId: string;
  /** The secret of the first key, if this start has created it. */
  newApiKey: string | null;
  /** A sign-in link to the console, for one use within 10 minutes. */
  consoleLink: string;
  /** Rejects when the embedded PostgreSQL ends unexpectedly. */
  broken: Promise<never>;
};

type Options = {
  installation: Installation;
  settings: SingleNodeSettings;
  /** The environment, for the settings of the services. */
  env: NodeJS.ProcessEnv;
  loggerFor: (service: string) => Logger;
  /** Aborts the start. */
  signal: AbortSignal;
};

/** Both services and their dependencies, in this process. */
export class SingleNode {
  readonly #options: Options;
  readonly #toStop: StopPhase[] = [];

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Starts everything in order. Resolves once the node accepts uploads. Rejects with a SettingsError if the person who
   * started the node can solve the problem. Call `stop` also after a failed start.
   */
  start(): Promise<StartedNode> {
    return startAll(this.#options, this.#toStop);
  }

  /** Stops what runs, in order. Never throws. */
  async stop(): Promise<void> {
    const logger = this.#options.loggerFor('single-node');
    logger.info('single-node.stopping');
    await stopInOrder(this.#toStop, logger);
    logger.info('single-node.stopped');
  }
}

/** Starts all parts. Each part that it starts puts its stop phase at the front of `toStop`. */
async function startAll(
  { installation, settings, env, loggerFor, signal }: Options,
  toStop: StopPhase[],
): Promise<StartedNode> {
  const { dataDir } = settings;
  await makeDataDir(dataDir);
  const unlock = await lockDataDir(dataDir.root);
  toStop.unshift({ name: 'data directory', limitMs: 1_000, run: unlock });
  await assertPortsFree(settings);
  // Each service has spans of its own, as it has a process of its own elsewhere.
  const tracingOf = (service: string) => startTracing(service, { env, logger: loggerFor(service), toStop });
  const tracing = { controlPlane: await tracingOf('control-plane'), engine: await tracingOf('engine') };
  // The builds run in parallel. The start does not wait for them, and does not fail if they fail.
  const pageBuilds = new Map(
    FRONT_ENDS.map((page) => [page, startPageBuild(loggerFor('single-node'), page)]),
  );
  const stopBuilds = async () => {
    await Promise.all([...pageBuilds.values()].map((build) => build.stop()));
  };
  toStop.unshift({ name: 'page builds', limitMs: 5_000, run: stopBuilds });
  const secrets = await readOrCreateSecrets(dataDir);
  const database = await provideDatabase(settings, secrets.databasePassword, toStop);
  signal.throwIfAborted();

  const objects = objectStoreOf(settings);
  const busLogger = loggerFor('message-bus');
  const bus =
    settings.amqpUrl === undefined
      ? new InProcessBus({ logger: busLogger })
      : new RabbitMqBus({ url: settings.amqpUrl, logger: busLogger });
  toStop.unshift({ name: 'message bus', limitMs: 5_000, run: () => bus.close() });

  reportUnavailable(
    {
      ...(settings.amqpUrl !== undefined && { AMQP_URL: () => bus.check() }),
      ...(settings.s3 !== undefined && { S3_ENDPOINT: () => objects.check() }),
    },
    { logger: loggerFor('single-node'), signal },
  );

  let isReady = false;
  const engineCheck = async () => {
    if (!isReady) throw new Error('The node is starting or stopping');
  };
  const controlPlane = ControlPlane.create(controlPlaneConfigOf(settings, env, secrets, database.url), {
    bus,
    objects,
    logger: loggerFor('control-plane'),
    tracing: tracing.controlPlane,
    checks: { engine: engineCheck },
    starting: signal,
    pageBuildFailed: (page) => pageBuilds.get(page)?.failed() ?? false,
    adminCommand: publicAdminCommand(installation, env),
  });
  toStop.unshift({ name: 'control plane', limitMs: STOP_LIMIT_MS, run: () => controlPlane.stop() });
  await controlPlane.migrate();
  const { internalPort } = await controlPlane.start({ alone: settings.amqpUrl === undefined });
  signal.throwIfAborted();

  const engineConfig = engineConfigOf(settings, env, secrets, internalPort);
  const engine = Engine.create(engineConfig, {
    bus,
    objects,
    logger: loggerFor('engine'),
    tracing: tracing.engine,
  });
  const stopEngine = () => {
    isReady = false;
    return engine.stop();
  };
  toStop.unshift({ name: 'engine', limitMs: stopLimitMs(engineConfig), run: stopEngine });
  await engine.start();
  await makeSampleVideo(dataDir.sampleVideo);
  signal.throwIfAborted();

  // Last, so that a start that fails earlier has not created a key that it never shows.
  const { workspaceId, newApiKey } = await controlPlane.bootstrap();
  const { url: consoleLink } = await controlPlane.createConsoleLink(installation.start);
  isReady = true;
  return { workspaceId, newApiKey, consoleLink, broken: database.broken };
}

/** A port that is taken should be known before PostgreSQL starts and the database is migrated. */
async function assertPortsFree(settings: SingleNodeSettings): Promise<void> {
  const { host, engineInternalHost } = settings;
  await assertPortFree({ host, port: settings.port, variable: 'PORT' });
  await assertPortFree({ host, port: settings.enginePort, variable: 'ENGINE_PORT' });
  await assertPortFree({ host: INTERNAL_HOST, port: settings.internalPort, variable: 'INTERNAL_PORT' });
  await assertPortFree({
    host: engineInternalHost,
    port: settings.engineInternalPort,
    variable: 'ENGINE_INTERNAL_PORT',
  });
}

/** The database of DATABASE_URL, or the embedded one, which it starts. */
async function provideDatabase(
  { databaseUrl, dataDir }: SingleNodeSettings,
  password: string,
  toStop: StopPhase[],
): Promise<{ url: string; broken: Promise<never> }> {
  if (databaseUrl !== undefined) {
    return { url: databaseUrl, broken: new Promise(() => {}) };
  }
  const postgres = await startEmbeddedPostgres({ directory: dataDir.postgres, password, access: 'node' });
  toStop.unshift({ name: 'PostgreSQL', limitMs: POSTGRES_STOP_MS, run: () => postgres.stop() });
  const broken = postgres.ended.then(() => {
    throw new Error(`PostgreSQL ended unexpectedly. See ${dataDir.postgres}.log.`);
  });
  // An orderly stop also ends the server. Nothing awaits `broken` then.
  broken.catch(() => {});
  return { url: postgres.url(), broken };
}
