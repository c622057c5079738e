import { readControlPlaneConfig } from '@framelane/control-plane/config';
import { ControlPlane } from '@framelane/control-plane/control-plane';
import { readEngineConfig } from '@framelane/engine/config';
import { Engine } from '@framelane/engine/engine';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { RabbitMqBus } from '@framelane/message-bus/rabbitmq-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { type StopPhase, stopInOrder } from '@framelane/service-kit/shutdown';
import { lockDataDir, makeDataDir } from './data-dir.ts';
import { assertReachable } from './postgres/assert-reachable.ts';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { DATABASE, ensureDatabase } from './postgres/ensure-database.ts';
import { makeSampleVideo } from './sample-video.ts';
import { keepSecrets } from './secrets.ts';
import { type SingleNodeSettings, servesOnlyThisMachine } from './settings.ts';

/** The control plane's internal listener is for the engine in the same process, and for whoever fetches its metrics. */
const INTERNAL_HOST = '127.0.0.1';

/** Internal listeners that nobody wants to find take whatever port is free. */
const ANY_PORT = '0';

/** Where a node that serves only its own machine may send events. */
const LOOPBACK = '127.0.0.0/8,::1/128';

/** No limit on a node that serves its owner. */
const UNLIMITED = '0';

/** Both services and the systems behind them, running in this process. */
export type SingleNode = {
  workspaceId: string;
  /** The secret of the first key, at the start that made it up. */
  newApiKey: string | null;
  /** Rejects when something went down that the node cannot do without. */
  broken: Promise<never>;
  /** Stops everything in order; never throws. */
  stop(): Promise<void>;
};

type Options = {
  settings: SingleNodeSettings;
  /** Where the services find those settings of theirs that a single node leaves to them. */
  env: NodeJS.ProcessEnv;
  loggerFor: (service: string) => Logger;
  /** Gives a start up that is no longer wanted. */
  signal: AbortSignal;
};

/**
 * Starts everything in order and resolves once videos are taken in. When a step fails, what runs by then is stopped
 * and the error thrown; a SettingsError is one that the person who started it can solve.
 */
export async function startSingleNode(options: Options): Promise<SingleNode> {
  const logger = options.loggerFor('single-node');
  const toStop: StopPhase[] = [];
  const stop = async () => {
    logger.info('single-node.stopping');
    await stopInOrder(toStop, logger);
    logger.info('single-node.stopped');
  };
  try {
    return { ...(await startAll(options, toStop)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whatever starts here puts the way to stop it first in `toStop`. */
async function startAll(
  { settings, env, loggerFor, signal }: Options,
  toStop: StopPhase[],
): Promise<Omit<SingleNode, 'stop'>> {
  const { dataDir, host } = settings;
  await makeDataDir(dataDir);
  const unlock = await lockDataDir(dataDir.root);
  toStop.unshift({ name: 'data directory', limitMs: 1_000, run: unlock });
  const secrets = await keepSecrets(dataDir);
  const database = await provideDatabase(settings, secrets.databasePassword, toStop);
  signal.throwIfAborted();

  const objects =
    settings.s3 === undefined ? new FileObjectStore(dataDir.objects) : new S3ObjectStore(settings.s3);
  const busLogger = loggerFor('message-bus');
  const bus =
    settings.amqpUrl === undefined
      ? new InProcessBus({ logger: busLogger })
      : new RabbitMqBus({ url: settings.amqpUrl, logger: busLogger });
  toStop.unshift({ name: 'message bus', limitMs: 5_000, run: () => bus.close() });
  const common = {
    ...env,
    HOST: host,
    SERVICE_SECRET: secrets.serviceSecret,
  };

  const isLocal = servesOnlyThisMachine(settings);
  let isReady = false;
  const controlPlane = ControlPlane.create(
    readControlPlaneConfig({
      ...common,
      PORT: String(settings.port),
      INTERNAL_HOST,
      INTERNAL_PORT: env.INTERNAL_PORT || ANY_PORT,
      PUBLIC_URL: settings.publicUrl,
      ENGINE_PUBLIC_URL: settings.enginePublicUrl,
      DATABASE_URL: database.url,
      CONTENT_KEY_SECRET: secrets.contentKeySecret,
      CONTENT_KEY_SECRET_PREVIOUS: secrets.previousContentKeySecrets.join(','),
      RATE_LIMIT_REQUESTS_PER_MINUTE: env.RATE_LIMIT_REQUESTS_PER_MINUTE || UNLIMITED,
      RATE_LIMIT_FAILURES_PER_MINUTE: env.RATE_LIMIT_FAILURES_PER_MINUTE || (isLocal ? UNLIMITED : ''),
      WEBHOOK_ALLOW_CIDRS: env.WEBHOOK_ALLOW_CIDRS || (isLocal ? LOOPBACK : ''),
    }),
    {
      bus,
      objects,
      logger: loggerFor('control-plane'),
      checks: {
        engine: async () => {
          if (!isReady) throw new Error('The node is starting or stopping');
        },
      },
    },
  );
  toStop.unshift({ name: 'control plane', limitMs: 60_000, run: () => controlPlane.stop() });
  const { internalPort } = await controlPlane.start({ alone: settings.amqpUrl === undefined });
  signal.throwIfAborted();

  const engine = Engine.create(
    readEngineConfig({
      ...common,
      ENGINE_PORT: String(settings.enginePort),
      ENGINE_INTERNAL_PORT: env.ENGINE_INTERNAL_PORT || ANY_PORT,
      CONTROL_PLANE_INTERNAL_URL: `http://${INTERNAL_HOST}:${internalPort}`,
      ENGINE_WORK_DIR: dataDir.work,
    }),
    { bus, objects, logger: loggerFor('engine') },
  );
  const stopEngine = () => {
    isReady = false;
    return engine.stop();
  };
  toStop.unshift({ name: 'engine', limitMs: 40_000, run: stopEngine });
  await engine.start();
  await makeSampleVideo(dataDir.sampleVideo);
  signal.throwIfAborted();

  // Last, so that a start that fails before has not made a key that nobody ever sees.
  const { workspaceId, newApiKey } = await controlPlane.bootstrap();
  isReady = true;
  return { workspaceId, newApiKey, broken: database.broken };
}

/** The database given from outside, or our own. */
async function provideDatabase(
  { databaseUrl, dataDir }: SingleNodeSettings,
  password: string,
  toStop: StopPhase[],
): Promise<{ url: string; broken: Promise<never> }> {
  if (databaseUrl !== undefined) {
    await assertReachable(databaseUrl);
    return { url: databaseUrl, broken: new Promise(() => {}) };
  }
  const postgres = await startEmbeddedPostgres({ directory: dataDir.postgres, password, durable: true });
  toStop.unshift({ name: 'PostgreSQL', limitMs: 30_000, run: () => postgres.stop() });
  await ensureDatabase(postgres.url('postgres'), DATABASE);
  const broken = postgres.ended.then(() => {
    throw new Error(`PostgreSQL ended unasked; ${dataDir.postgres}.log says why.`);
  });
  // Seen by whoever waits for it; an orderly stop needs nobody to.
  broken.catch(() => {});
  return { url: postgres.url(DATABASE), broken };
}
