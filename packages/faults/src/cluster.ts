import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { freePorts } from '@framelane/test-kit/free-ports';
import { type RabbitMqNode, startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { API_KEY, Api, WORKSPACE_ID } from './api.ts';
import { Bucket } from './bucket.ts';
import { MessageTap } from './message-tap.ts';
import { PostgresServer } from './postgres-server.ts';
import { ServiceProcess } from './service-process.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

/** Settings of every service. Leases are short, so that they expire soon after a service dies. */
const SETTINGS = {
  SERVICE_SECRET: 'the-secret-that-engines-show-in-the-fault-suite',
  BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
  BOOTSTRAP_API_KEY: API_KEY,
  UPLOAD_LEASE_SECONDS: '4',
  ATTEMPT_LEASE_SECONDS: '4',
  RETRY_BACKOFF_SECONDS: '1',
  MAINTENANCE_SECONDS: '1',
  STRAGGLER_SECONDS: '5',
  USAGE_FLUSH_SECONDS: '1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,1,2,2,4,4,8,8,16,16,16,16,16,16,16',
  ENGINE_SLOTS: '1',
  ENGINE_PRESET: 'ultrafast',
};

/** The doors between the parts, each of which can be shut. */
export type Doors = Record<'database' | 'broker' | 'storage' | 'internal' | 'public' | 'uploads', TcpProxy>;

/** The doors of one service alone; behind each is that of all. */
type OwnDoors = Record<'broker' | 'internal', TcpProxy>;

/** Control planes and engines as processes, with their own PostgreSQL, RabbitMQ and S3 server. */
export class Cluster {
  readonly postgres: PostgresServer;
  readonly rabbitmq: RabbitMqNode;
  /** Injects storage errors. Unused when the environment names another S3 server. */
  readonly storage: FakeS3;
  readonly bucket: Bucket;
  readonly tap: MessageTap;
  readonly doors: Doors;
  readonly controlPlanes: ServiceProcess[];
  readonly engines: ServiceProcess[];
  readonly receiver: WebhookReceiver;
  readonly api: Api;
  /** Has one work directory for each engine. */
  readonly workDir: string;
  /** In the order of the services. */
  readonly #ownDoors: readonly OwnDoors[];

  /**
   * Starts it all, with a webhook for every event; resolves when uploads are taken. With `anyStorage`, it uses the S3
   * server at S3_TEST_ENDPOINT if there is one. Without `innerDoors`, all talk to each other directly, and only the
   * public doors can be shut: for measuring, as this process carries every byte through a door.
   */
  static async start({
    controlPlanes = 2,
    engines = 2,
    env = {},
    anyStorage = false,
    innerDoors = true,
  } = {}): Promise<Cluster> {
    const [postgres, rabbitmq, storage, receiver, workDir] = await Promise.all([
      PostgresServer.start(),
      startRabbitMq(),
      FakeS3.start(),
      WebhookReceiver.start(),
      mkdtemp(join(tmpdir(), 'framelane-faults-work-')),
    ]);
    const ports = await freePorts(2 * (controlPlanes + engines));
    const pair = (): [number, number] => [ports.pop() as number, ports.pop() as number];
    const controlPlanePorts = Array.from({ length: controlPlanes }, pair);
    const enginePorts = Array.from({ length: engines }, pair);
    const bucket = (anyStorage ? await Bucket.create() : undefined) ?? Bucket.of(storage);
    const doors: Doors = {
      database: await TcpProxy.start(() => [addressOf(postgres.url)]),
      broker: await TcpProxy.start(() => [addressOf(rabbitmq.url)]),
      storage: await TcpProxy.start(() => [addressOf(bucket.settings.S3_ENDPOINT)]),
      internal: await TcpProxy.start(() => controlPlanePorts.map(([, port]) => local(port))),
      public: await TcpProxy.start(() => controlPlanePorts.map(([port]) => local(port))),
      uploads: await TcpProxy.start(() => enginePorts.map(([port]) => local(port))),
    };
    const ownDoors = await Promise.all(
      [...controlPlanePorts, ...enginePorts].map(async () => ({
        broker: await TcpProxy.start(() => [local(doors.broker.port)]),
        internal: await TcpProxy.start(() => [local(doors.internal.port)]),
      })),
    );
    const reached = (address: string, door: TcpProxy) => (innerDoors ? door.through(address) : address);
    const common = {
      ...SETTINGS,
      ...bucket.settings,
      DATABASE_URL: reached(postgres.url, doors.database),
      S3_ENDPOINT: reached(bucket.settings.S3_ENDPOINT, doors.storage),
      PUBLIC_URL: `http://127.0.0.1:${doors.public.port}`,
      ENGINE_PUBLIC_URL: `http://127.0.0.1:${doors.uploads.port}`,
      ...env,
    };
    const throughOwnDoors = (index: number) => {
      const { broker, internal } = ownDoors[index] as OwnDoors;
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
      receiver,
      workDir,
      doors,
      ownDoors,
      controlPlanes: controlPlanePorts.map(
        ([port, internalPort], index) =>
          new ServiceProcess({
            name: `control plane ${index + 1}`,
            main: 'services/control-plane/src/main.ts',
            url: `http://127.0.0.1:${port}`,
            env: {
              ...common,
              ...throughOwnDoors(index),
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
            env: {
              ...common,
              ...throughOwnDoors(controlPlanes + index),
              ENGINE_PORT: String(port),
              ENGINE_INTERNAL_PORT: String(internalPort),
              ENGINE_WORK_DIR: join(workDir, String(index + 1)),
            },
          }),
      ),
      api: new Api(common.PUBLIC_URL),
    });
    try {
      await Promise.all(cluster.services.map((service) => service.start()));
      await cluster.tap.drain();
      await cluster.api.subscribe(receiver.url);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(parts: {
    postgres: PostgresServer;
    rabbitmq: RabbitMqNode;
    storage: FakeS3;
    bucket: Bucket;
    doors: Doors;
    ownDoors: OwnDoors[];
    controlPlanes: ServiceProcess[];
    engines: ServiceProcess[];
    receiver: WebhookReceiver;
    api: Api;
    workDir: string;
  }) {
    this.postgres = parts.postgres;
    this.rabbitmq = parts.rabbitmq;
    this.storage = parts.storage;
    this.bucket = parts.bucket;
    this.tap = new MessageTap(parts.rabbitmq.url);
    this.doors = parts.doors;
    this.#ownDoors = parts.ownDoors;
    this.controlPlanes = parts.controlPlanes;
    this.engines = parts.engines;
    this.receiver = parts.receiver;
    this.api = parts.api;
    this.workDir = parts.workDir;
  }

  get services(): ServiceProcess[] {
    return [...this.controlPlanes, ...this.engines];
  }

  /** The doors that this service alone goes through. */
  doorsOf(service: ServiceProcess): OwnDoors {
    return this.#ownDoors[this.services.indexOf(service)] as OwnDoors;
  }

  /** All output of all services. */
  get log(): string {
    return this.services.map(({ output }) => output.join('')).join('');
  }

  /** Kills all processes and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.end('SIGKILL')));
    const doors = [this.doors, ...this.#ownDoors].flatMap((some) => Object.values(some));
    await Promise.all(doors.map((door) => door.stop()));
    await this.bucket.remove();
    await Promise.all([
      this.postgres.remove(),
      this.rabbitmq.remove(),
      this.storage.stop(),
      this.receiver.stop(),
      rm(this.workDir, { recursive: true, force: true }),
    ]);
  }
}

function local(port: number) {
  return { host: '127.0.0.1', port };
}

function addressOf(url: string) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
