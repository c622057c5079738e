import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ControlPlaneConfig, readControlPlaneConfig } from '@framelane/control-plane/config';
import { ControlPlane } from '@framelane/control-plane/control-plane';
import { readEngineConfig } from '@framelane/engine/config';
import { Engine } from '@framelane/engine/engine';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { modelMedia } from './media-model.ts';
import type { ScheduledDatabase } from './scheduled-database.ts';
import type { SimulatedBroker } from './simulated-bus.ts';
import type { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedProcess } from './simulated-process.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

export const WORKSPACE_ID = 'ws_01kannnnnnfz0rzzzzzzzzzzzz';
export const API_KEY = 'svc_live_S1mulat1onsHaveThisKeyInAllRuns00000000';

/** Ports that lead to all control planes, or all engines. */
export const PORTS = { public: 8000, internal: 8100, uploads: 8200 } as const;

const SERVICE_SECRET = 'the-secret-that-engines-show-in-simulations';
const COUNT = 2;

/** Pause between two claims of work that no commit has announced. Most statements of an idle system are such claims. */
const POLL_SECONDS = 5;

/** Seconds before each attempt at a delivery: all end within the rest of a run. */
const RETRY_SCHEDULE = [0, 2, 5, 10, 20, 40, 60];

export type Systems = {
  world: World;
  database: ScheduledDatabase;
  databaseUrl: string;
  broker: SimulatedBroker;
  store: SimulatedStore;
  network: SimulatedNetwork;
  workDir: string;
};

/** A service that is started again after each kill. */
export type Service = {
  name: string;
  process: SimulatedProcess;
  start(): Promise<void>;
  kill(): Promise<void>;
};

/** Two control planes and two engines, which are the real ones, on the simulated systems. */
export function createServices(systems: Systems): Service[] {
  const { network } = systems;
  const at = (base: number) => Array.from({ length: COUNT }, (_, index) => base + 1 + index);
  for (const port of Object.values(PORTS)) network.share(port, at(port));
  return [
    ...at(0).map((number) =>
      service(`control-${number}`, (process) => startControlPlane(number, process, systems)),
    ),
    ...at(0).map((number) =>
      service(`engine-${number}`, (process, life) => startEngine(number, life, process, systems)),
    ),
  ];
}

/** `life` counts the starts. */
function service(name: string, start: (process: SimulatedProcess, life: number) => Promise<void>): Service {
  let process = new SimulatedProcess(name);
  let life = 0;
  return {
    name,
    get process() {
      return process;
    },
    start: async () => {
      process = new SimulatedProcess(name);
      life += 1;
      const own = process;
      await own.run(() => start(own, life));
    },
    kill: () => process.kill(),
  };
}

async function startControlPlane(
  number: number,
  process: SimulatedProcess,
  { world, database, databaseUrl, broker, store }: Systems,
): Promise<void> {
  const read = readControlPlaneConfig({
    PORT: String(PORTS.public + number),
    INTERNAL_PORT: String(PORTS.internal + number),
    PUBLIC_URL: `http://127.0.0.1:${PORTS.public}`,
    ENGINE_PUBLIC_URL: `http://127.0.0.1:${PORTS.uploads}`,
    DATABASE_URL: databaseUrl,
    SERVICE_SECRET,
    CONTENT_KEY_SECRET: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
    BOOTSTRAP_API_KEY: API_KEY,
    RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
    RATE_LIMIT_FAILURES_PER_MINUTE: '0',
    PIECE_SECONDS: '6',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  });
  const config: ControlPlaneConfig = {
    ...read,
    pollSeconds: POLL_SECONDS,
    // Later passes of a purge find objects that were stored late; a run should not wait ten minutes for each.
    purgeRepeatSeconds: 30,
    webhooks: { ...read.webhooks, retryScheduleSeconds: RETRY_SCHEDULE },
  };
  const controlPlane = ControlPlane.create(config, {
    bus: broker.busOf(process),
    objects: store,
    logger: loggerOf(process, world),
    databaseClient: database.clientClass(),
  });
  await controlPlane.start();
  await controlPlane.bootstrap();
}

async function startEngine(
  number: number,
  life: number,
  process: SimulatedProcess,
  { world, broker, store, workDir }: Systems,
): Promise<void> {
  // Code of a killed engine may still use its files.
  const own = join(workDir, `${number}.${life}`);
  await mkdir(own, { recursive: true });
  const config = readEngineConfig({
    ENGINE_ROLES: 'upload,transcode',
    ENGINE_PORT: String(PORTS.uploads + number),
    ENGINE_INTERNAL_PORT: String(8300 + number),
    CONTROL_PLANE_INTERNAL_URL: `http://127.0.0.1:${PORTS.internal}`,
    PUBLIC_URL: `http://127.0.0.1:${PORTS.public}`,
    SERVICE_SECRET,
    ENGINE_SLOTS: '1',
    ENGINE_SANDBOX: 'none',
    ENGINE_WORK_DIR: own,
  });
  const threads = 2;
  const engine = Engine.create(
    {
      ...config,
      transcode: { ...config.transcode, threads },
      imports: { ...config.imports, pollSeconds: POLL_SECONDS },
    },
    {
      bus: broker.busOf(process),
      objects: store,
      logger: loggerOf(process, world),
      media: modelMedia(world),
    },
  );
  await engine.start();
}

/** The log of a service is part of the history. */
function loggerOf(process: SimulatedProcess, { history }: World): Logger {
  return createLogger({
    service: process.name,
    format: {
      transform: ({ level, message, error, cause, ...facts }) => {
        if (!process.isAlive) return false;
        const reason = reasonOf(error);
        const { videoId, attempt, task, try: tryNumber, code } = facts as Record<string, unknown>;
        const shown = [videoId, attempt && `a${attempt}.${task}.${tryNumber}`, code]
          .filter(Boolean)
          .join(' ');
        const line = `${level} ${message} ${shown}${reason}`;
        if (level === 'info') history.mark(process.name, line);
        else history.say(process.name, line);
        return false;
      },
    },
  });
}

/** The messages of an error and its causes. The log has replaced the error by its properties. */
function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return '';
  return `: ${error.message}${'cause' in error ? reasonOf(error.cause) : ''}`;
}
