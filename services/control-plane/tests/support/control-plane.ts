import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PackagingName } from '@framelane/contracts/packaging';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { type ControlPlaneConfig, readControlPlaneConfig } from '../../src/config.ts';
import { type Context, type ControlPlaneDeps, createContext } from '../../src/context.ts';
import { ControlPlane } from '../../src/control-plane.ts';
import { type Database, openDatabase, openPool } from '../../src/db/database.ts';
import type { MaintenanceStep } from '../../src/metrics/metrics.ts';
import { createTestDatabase } from './database.ts';
import { SimulatedEngine } from './engine.ts';
import { sampleManifest } from './manifest.ts';
import { ResponseObserver } from './response-observer.ts';

const SERVICE_SECRET = 'tests-only-service-secret-of-32-chars';

/** A running control plane with its own database, object store and bus. */
export type TestControlPlane = {
  url: string;
  workspaceId: string;
  apiKey: string;
  /** Headers of an authenticated request. */
  credentials: Record<string, string>;
  databaseUrl: string;
  db: Database;
  bus: InProcessBus;
  objects: FileObjectStore;
  engine: SimulatedEngine;
  /** An engine that uses another control plane of this database. */
  engineAt(internalUrl: string): SimulatedEngine;
  /** Starts another control plane as a single node does, with the option `alone`. */
  startAnotherAsSingleNode(): Promise<void>;
  /** Starts another control plane on the same database. */
  startAnother(
    changes?: Partial<ControlPlaneConfig>,
  ): Promise<Pick<TestControlPlane, 'url' | 'maintain' | 'stop'> & { internalUrl: string }>;
  /** Runs maintenance steps at once. */
  maintain(...steps: MaintenanceStep[]): Promise<void>;
  /** Stops the first control plane, but not its database, object store and bus. */
  stopFirst(): Promise<void>;
  /** Requests a ticket and resolves with the response. */
  ticket(body?: Record<string, unknown>): Promise<{ videoId: string; uploadToken: string }>;
  /** A video that is ready in the database; its segments are not stored. */
  readyVideo(packaging?: PackagingName): Promise<{ videoId: string }>;
  stop(): Promise<void>;
};

/**
 * Starts a control plane. `settings` overrides values of the configuration, `store` methods of the object store,
 * `deps` other dependencies. `stop` throws if a response violated the contract.
 */
export async function startControlPlane(
  settings: (config: ControlPlaneConfig) => ControlPlaneConfig = (config) => config,
  store: Pick<ObjectStore, 'presign'> = {},
  deps: Pick<Partial<ControlPlaneDeps>, 'logger' | 'objects' | 'resolveHost'> = {},
): Promise<TestControlPlane> {
  const database = await createTestDatabase();
  const storage = await mkdtemp(join(tmpdir(), 'framelane-test-objects-'));
  const logger = createLogger({ service: 'control-plane', level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const bus = new InProcessBus({ logger, redeliveryDelayMs: 10 });
  const objects = Object.assign(new FileObjectStore(storage), store);
  const read = readControlPlaneConfig({
    PORT: '0',
    INTERNAL_PORT: '0',
    PUBLIC_URL: 'http://framelane.test',
    ENGINE_PUBLIC_URL: 'http://engine.framelane.test',
    DATABASE_URL: database.url,
    SERVICE_SECRET,
    CONTENT_KEY_SECRET: randomBytes(32).toString('base64'),
    RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
    RATE_LIMIT_FAILURES_PER_MINUTE: '0',
  });
  const config = { ...read, attempts: { ...read.attempts, retryBackoffSeconds: 0 } };
  const create = (changes: Partial<ControlPlaneConfig> = {}) => {
    const context = createContext({ ...settings(config), ...changes }, { bus, objects, logger, ...deps });
    return { controlPlane: new ControlPlane(context), maintain: stepRunner(context) };
  };
  const { controlPlane, maintain } = create();
  const running = [controlPlane];
  const { port, internalPort } = await controlPlane.start();
  const observer = new ResponseObserver();
  observer.add(port);
  const { workspaceId, newApiKey: apiKey } = await controlPlane.bootstrap();
  if (apiKey === null) throw new Error('A new database already has a key');
  const url = `http://127.0.0.1:${port}`;
  const credentials = { authorization: `Bearer ${apiKey}`, 'x-svc-workspace': workspaceId };
  const engineAt = (internalUrl: string) => new SimulatedEngine({ internalUrl, secret: SERVICE_SECRET, bus });
  const engine = engineAt(`http://127.0.0.1:${internalPort}`);
  const db = openDatabase(openPool(database.url, logger));

  const ticket: TestControlPlane['ticket'] = async (body = { filename: 'holiday.mp4' }) => {
    const response = await fetch(`${url}/v1/videos/upload-ticket`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`Ticket refused: ${await response.text()}`);
    return (await response.json()) as { videoId: string; uploadToken: string };
  };

  return {
    url,
    workspaceId,
    apiKey,
    credentials,
    databaseUrl: database.url,
    db,
    bus,
    objects,
    engine,
    engineAt,
    startAnotherAsSingleNode: async () => {
      const { controlPlane: another } = create();
      running.push(another);
      await another.start({ alone: true });
    },
    startAnother: async (changes) => {
      const { controlPlane: another, maintain } = create(changes);
      running.push(another);
      const its = await another.start();
      observer.add(its.port);
      return {
        url: `http://127.0.0.1:${its.port}`,
        internalUrl: `http://127.0.0.1:${its.internalPort}`,
        maintain,
        stop: () => another.stop(),
      };
    },
    maintain,
    stopFirst: async () => {
      running.splice(running.indexOf(controlPlane), 1);
      await controlPlane.stop();
    },
    ticket,
    readyVideo: async (packaging = 'ts') => {
      const { videoId, uploadToken } = await ticket({ filename: 'holiday.mp4', packaging });
      await engine.upload(uploadToken);
      const { attempt } = await engine.claim(videoId);
      await engine.complete(videoId, attempt, sampleManifest(packaging));
      return { videoId };
    },
    stop: async () => {
      await Promise.all(running.map((each) => each.stop()));
      await bus.close();
      await db.destroy();
      await database.drop();
      await rm(storage, { recursive: true, force: true });
      observer.close();
    },
  };
}

/** A function that runs maintenance steps at once, in addition to their schedule. */
function stepRunner({ maintenance }: Context): TestControlPlane['maintain'] {
  return async (...steps) => {
    await Promise.all(steps.map((name) => maintenance.perform({ name, dueAt: new Date() })));
  };
}
