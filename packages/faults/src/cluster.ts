import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { Broker } from '@framelane/test-kit/broker';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { freePorts } from '@framelane/test-kit/free-ports';
import { startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { API_KEY, Api, WORKSPACE_ID } from './api.ts';
import { Bucket } from './bucket.ts';
import type { FaultDatabase } from './fault-database.ts';
import { MessageTap } from './message-tap.ts';
import { PostgresServer } from './postgres-server.ts';
import { ServiceProcess } from './service-process.ts';
import { sharedBroker, sharedDatabase } from './shared-servers.ts';
import { SHORT_TIMES, type Timing } from './timing.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/** Settings of every service. */
const SETTINGS = {
  SERVICE_SECRET: 'the-secret-that-engines-show-in-the-fault-suite',
  BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
  BOOTSTRAP_API_KEY: API_KEY,
  // Pieces of one segment. The short clips of the tests are transcoded as a whole.
  PIECE_SECONDS: '6',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  IMPORT_ALLOW_CIDRS: '127.0.0.0/8',
  ENGINE_SLOTS: '1',
  ENGINE_PRESET: 'ultrafast',
};

/** The proxies between the parts. Each can be cut or silenced. */
export type Proxies = Record<'database' | 'broker' | 'storage' | 'internal' | 'public' | 'uploads', TcpProxy>;

/** The proxies that only one service uses. Each leads to the proxy that all services share. */
type OwnProxies = Record<'broker' | 'internal', TcpProxy>;

type ClusterOptions = {
  controlPlanes?: number;
  engines?: number;
  env?: NodeJS.ProcessEnv;
  /** Replaces some of the short times. */
  timing?: Partial<Timing>;
  anyStorage?: boolean;
  innerProxies?: boolean;
  codecs?: readonly AlternativeCodec[];
  postgres?: FaultDatabase;
  rabbitmq?: Broker;
};

/** Control planes and engines as processes, with their own database, broker and S3 server. */
export class Cluster {
  readonly postgres: FaultDatabase;
  readonly rabbitmq: Broker;
  /** Injects storage errors. Unused when `bucket` is on the S3 server at S3_TEST_ENDPOINT. */
  readonly storage: FakeS3;
  readonly bucket: Bucket;
  readonly tap: MessageTap;
  readonly proxies: Proxies;
  readonly controlPlanes: ServiceProcess[];
  readonly engines: ServiceProcess[];
  readonly endpoint: WebhookEndpoint;
  readonly api: Api;
  /** Has one work directory for each engine. */
  readonly workDir: string;
  /** In the order of the services. */
  readonly #ownProxies: readonly OwnProxies[];

  /**
   * Starts all parts and registers a webhook endpoint. Resolves when the cluster accepts uploads. A test that kills the
   * database server or the broker, or raises an alarm of the broker, passes its own server; `stop` removes it. With `anyStorage`, the
   * cluster uses the S3 server at S3_TEST_ENDPOINT if that is set. Without `innerProxies`, the parts connect to each other directly, and
   * only the proxies `public` and `uploads` are used: for benchmarks, because this process forwards every byte that passes a proxy. Every
   * fourth video has the `codecs` beside H.264.
   */
  static async start({
    controlPlanes = 2,
    engines = 2,
    env = {},
    timing = {},
    anyStorage = false,
    innerProxies = true,
    codecs = [],
    ...own
  }: ClusterOptions = {}): Promise<Cluster> {
    const [postgres, rabbitmq, storage, endpoint, workDir] = await Promise.all([
      own.postgres ?? sharedDatabase().then((shared) => shared ?? PostgresServer.start()),
      own.rabbitmq ?? sharedBroker().then((shared) => shared ?? startRabbitMq()),
      FakeS3.start(),
      WebhookEndpoint.start(),
      mkdtemp(join(tmpdir(), 'framelane-faults-work-')),
    ]);
    const ports = await freePorts(2 * (controlPlanes + engines));
    const pair = (): [number, number] => [ports.pop() as number, ports.pop() as number];
    const controlPlanePorts = Array.from({ length: controlPlanes }, pair);
    const enginePorts = Array.from({ length: engines }, pair);
    const bucket = (anyStorage ? await Bucket.create() : undefined) ?? Bucket.of(storage);
    const proxies: Proxies = {
      database: await TcpProxy.start(() => [addressOf(postgres.url)]),
      broker: await TcpProxy.start(() => [addressOf(rabbitmq.url)]),
      storage: await TcpProxy.start(() => [addressOf(bucket.settings.S3_ENDPOINT)]),
      internal: await TcpProxy.start(() => controlPlanePorts.map(([, port]) => local(port))),
      public: await TcpProxy.start(() => controlPlanePorts.map(([port]) => local(port))),
      uploads: await TcpProxy.start(() => enginePorts.map(([port]) => local(port))),
    };
    const ownProxies = await Promise.all(
      [...controlPlanePorts, ...enginePorts].map(async () => ({
        broker: await TcpProxy.start(() => [local(proxies.broker.port)]),
        internal: await TcpProxy.start(() => [local(proxies.internal.port)]),
      })),
    );
    const reached = (address: string, proxy: TcpProxy) => (innerProxies ? proxy.through(address) : address);
    const common = {
      ...SETTINGS,
      ...bucket.settings,
      DATABASE_URL: reached(postgres.url, proxies.database),
      S3_ENDPOINT: reached(bucket.settings.S3_ENDPOINT, proxies.storage),
      PUBLIC_URL: `http://127.0.0.1:${proxies.public.port}`,
      ENGINE_PUBLIC_URL: `http://127.0.0.1:${proxies.uploads.port}`,
      ...env,
    };
    const throughOwnProxies = (index: number) => {
      const { broker, internal } = ownProxies[index] as OwnProxies;
      const { controlPlane, engine } = rabbitmq.serviceUrls;
      return {
        AMQP_URL: reached(index < controlPlanes ? controlPlane : engine, broker),
        CONTROL_PLANE_INTERNAL_URL: reached(`http://127.0.0.1:${controlPlanePorts[0]?.[1]}`, internal),
      };
    };
    const cluster = new Cluster({
      postgres,
      rabbitmq,
      storage,
      bucket,
      endpoint,
      workDir,
      proxies,
      ownProxies,
      controlPlanes: controlPlanePorts.map(
        ([port, internalPort], index) =>
          new ServiceProcess({
            name: `control plane ${index + 1}`,
            main: 'packages/faults/src/control-plane-program.ts',
            args: [JSON.stringify({ ...SHORT_TIMES, ...timing })],
            url: `http://127.0.0.1:${port}`,
            internalUrl: `http://127.0.0.1:${internalPort}`,
            env: {
              ...common,
              ...throughOwnProxies(index),
              CONTENT_KEY_SECRET: Buffer.alloc(32, 'fault suite').toString('base64'),
              PORT: String(port),
              INTERNAL_PORT: String(internalPort),
            },
          }),
      ),
      engines: enginePorts.map(
        ([port, internalPort], index) =>
          new ServiceProcess({
            name: `engine ${index + 1}`,
            main: 'services/engine/src/main.ts',
            url: `http://127.0.0.1:${port}`,
            internalUrl: `http://127.0.0.1:${internalPort}`,
            env: {
              ...common,
              ...throughOwnProxies(controlPlanes + index),
              ENGINE_PORT: String(port),
              ENGINE_INTERNAL_PORT: String(internalPort),
              ENGINE_WORK_DIR: join(workDir, String(index + 1)),
            },
          }),
      ),
      api: new Api(common.PUBLIC_URL, codecs),
    });
    try {
      await Promise.all(cluster.services.map((service) => service.start()));
      await cluster.tap.drain();
      await cluster.api.subscribe(endpoint.url);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(parts: {
    postgres: FaultDatabase;
    rabbitmq: Broker;
    storage: FakeS3;
    bucket: Bucket;
    proxies: Proxies;
    ownProxies: OwnProxies[];
    controlPlanes: ServiceProcess[];
    engines: ServiceProcess[];
    endpoint: WebhookEndpoint;
    api: Api;
    workDir: string;
  }) {
    this.postgres = parts.postgres;
    this.rabbitmq = parts.rabbitmq;
    this.storage = parts.storage;
    this.bucket = parts.bucket;
    this.tap = new MessageTap(parts.rabbitmq.url);
    this.proxies = parts.proxies;
    this.#ownProxies = parts.ownProxies;
    this.controlPlanes = parts.controlPlanes;
    this.engines = parts.engines;
    this.endpoint = parts.endpoint;
    this.api = parts.api;
    this.workDir = parts.workDir;
  }

  get services(): ServiceProcess[] {
    return [...this.controlPlanes, ...this.engines];
  }

  /** The proxies that only this service uses. */
  proxiesOf(service: ServiceProcess): OwnProxies {
    return this.#ownProxies[this.services.indexOf(service)] as OwnProxies;
  }

  /** All output of all services. */
  get log(): string {
    return this.services.map(({ log }) => log.text).join('\n');
  }

  /** Ends the faults of all proxies and of the storage: those of a failed test would also fail the tests after it. */
  heal(): void {
    for (const proxy of this.#allProxies()) proxy.heal();
    this.storage.heal();
  }

  /** Kills all processes and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.end('SIGKILL')));
    await Promise.all(this.#allProxies().map((proxy) => proxy.stop()));
    await Promise.all([
      this.bucket.remove(),
      this.postgres.remove(),
      this.rabbitmq.remove(),
      this.storage.stop(),
      this.endpoint.stop(),
      rm(this.workDir, { recursive: true, force: true }),
    ]);
  }

  #allProxies(): TcpProxy[] {
    return [this.proxies, ...this.#ownProxies].flatMap((some) => Object.values(some));
  }
}

function local(port: number) {
  return { host: '127.0.0.1', port };
}

function addressOf(url: string) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
