import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { ResolveHost } from '@framelane/address-guard/resolve-host';
import { newContentKey } from '@framelane/contracts/content-key';
import { newId } from '@framelane/contracts/ids';
import { createMessage, type Message, type MessageOf, type MessageType } from '@framelane/contracts/messages';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { sourceKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import {
  type EngineConfig,
  type ImportSettings,
  readEngineConfig,
  type UploadLimits,
} from '../../src/config.ts';
import { Engine } from '../../src/engine.ts';
import { FakeControlPlane, SERVICE_SECRET } from './fake-control-plane.ts';
import { TEST_PACKAGING } from './packaging.ts';

/** An engine with a real object store and bus, and a fake control plane. */
export type TestEngine = {
  engine: Engine;
  port: number;
  /** Base URL of the public listener. Neither it nor `port` is valid if the engine receives no uploads. */
  url: string;
  /** Base URL of the internal listener. */
  internalUrl: string;
  controlPlane: FakeControlPlane;
  objects: ObjectStore;
  bus: InProcessBus;
  /** Published events of one type. */
  events<T extends MessageType>(type: T): MessageOf<T>[];
  /** Files in the folder of the object store, including temporary ones. */
  storedFiles(): Promise<string[]>;
  /** Stores a source and sends the command to transcode it as a whole. Resolves with the id of the video. */
  transcode(source: string): Promise<string>;
  stop(): Promise<void>;
};

export type TestEngineOptions = {
  env?: NodeJS.ProcessEnv;
  limits?: Partial<UploadLimits>;
  imports?: Partial<ImportSettings>;
  resolveHost?: ResolveHost;
  /** Adds faults between the engine and its object store or bus. */
  wrapObjects?: (objects: ObjectStore) => ObjectStore;
  wrapBus?: (bus: MessageBus) => MessageBus;
};

/** Environment of an engine for uploads and imports alone. It starts faster: a transcoder first runs ffmpeg to check it. */
export const ONLY_RECEIVES = { ENGINE_ROLES: 'upload' };

export async function startTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const root = await mkdtemp(join(tmpdir(), 'framelane-engine-test-'));
  const controlPlane = await FakeControlPlane.start();
  const logger = quietLogger();
  const objects = new FileObjectStore(join(root, 'objects'));
  const bus = new InProcessBus({ logger });
  const received: Message[] = [];
  await bus.consume('control-plane.events', { prefetch: 10 }, async (message) => {
    received.push(message);
    controlPlane.apply(message);
  });
  const config = testConfig(controlPlane.url, join(root, 'work'), options.env);
  Object.assign(config.uploads, options.limits);
  Object.assign(config.imports, options.imports);
  const engine = Engine.create(config, {
    bus: options.wrapBus?.(bus) ?? bus,
    objects: options.wrapObjects?.(objects) ?? objects,
    logger,
    ...(options.resolveHost && { resolveHost: options.resolveHost }),
  });
  const stop = async () => {
    await engine.stop();
    await bus.close();
    await controlPlane.stop();
    await rm(root, { recursive: true, force: true });
  };
  const { port = 0, internalPort } = await engine.start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    engine,
    port,
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    controlPlane,
    objects,
    bus,
    events: <T extends MessageType>(type: T) =>
      received.filter((message): message is Message & MessageOf<T> => message.type === type),
    storedFiles: () => filesBelow(join(root, 'objects')),
    transcode: async (source) => {
      const { videoId, workspaceId } = controlPlane.issue();
      const key = sourceKey(workspaceId, videoId, newId('xfr'));
      const bytes = await readFile(source);
      await objects.put(key, bytes, 'video/mp4');
      const inputBytes = bytes.byteLength;
      controlPlane.claimable.set(videoId, {
        attempt: 1,
        task: PLANNING_TASK,
        try: 1,
        leaseSeconds: 60,
        sourceKey: key,
        inputBytes,
        contentKey: newContentKey().toString('base64'),
        work: {
          kind: 'plan',
          hashSource: false,
          pieceSeconds: null,
          audioOnly: 'refused',
          packaging: TEST_PACKAGING,
          codecs: [],
          hdr: 'sdr',
        },
      });
      const waitingSince = new Date().toISOString();
      await bus.publish(createMessage('plan', { videoId, workspaceId, waitingSince, inputBytes }));
      return videoId;
    },
    stop,
  };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** A proxy that replaces some methods of an object. The other methods still access its private members. */
export function withFaults<T extends object>(target: T, faults: Partial<T>): T {
  return new Proxy(target, {
    get(original, name) {
      const fault = faults[name as keyof T];
      if (fault !== undefined) return fault;
      const value: unknown = Reflect.get(original, name, original);
      return typeof value === 'function' ? value.bind(original) : value;
    },
  });
}

export function testConfig(
  controlPlaneUrl: string,
  workDir: string,
  env: NodeJS.ProcessEnv = {},
): EngineConfig {
  return readEngineConfig({
    ENGINE_PORT: '0',
    ENGINE_INTERNAL_PORT: '0',
    CONTROL_PLANE_INTERNAL_URL: controlPlaneUrl,
    PUBLIC_URL: 'https://video.example.com',
    SERVICE_SECRET,
    ENGINE_WORK_DIR: workDir,
    ...env,
  });
}

export function quietLogger(): Logger {
  const logger = createLogger({ service: 'engine' });
  logger.silent = process.env.TEST_LOGS === undefined;
  return logger;
}
