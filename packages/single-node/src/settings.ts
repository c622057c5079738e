import { BlockList, isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { readS3Settings, type S3Settings } from '@framelane/service-kit/connection-settings';
import { readSettings, SettingsError, setting } from '@framelane/service-kit/settings';
import { z } from 'zod';
import { CHECKOUT, type Installation } from './installation.ts';

/** A port that clients know in advance, so the system cannot choose it (0). */
const fixedPort = () => setting.integer(1, 65535);

/** The control plane's internal listener serves the engine in the same process and Prometheus. */
export const INTERNAL_HOST = '127.0.0.1';

const settings = z.object({
  HOST: setting.text().default('127.0.0.1'),
  PORT: fixedPort().default(8080),
  ENGINE_PORT: fixedPort().default(8090),
  INTERNAL_PORT: setting.port().default(0),
  ENGINE_INTERNAL_HOST: setting.text().default(INTERNAL_HOST),
  ENGINE_INTERNAL_PORT: setting.port().default(0),
  PUBLIC_URL: setting.httpUrl().optional(),
  ENGINE_PUBLIC_URL: setting.httpUrl().optional(),
  DATA_DIR: setting.text().optional(),
  LOG_FORMAT: z.enum(['pretty', 'json'], 'must be pretty or json').optional(),
  DATABASE_URL: setting.postgresUrl().optional(),
  AMQP_URL: setting.amqpUrl().optional(),
});

/** The names of the settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape);

/** The settings of a single node. The services read all others from the environment. */
export type SingleNodeSettings = {
  host: string;
  port: number;
  enginePort: number;
  /** With 0, the default, the system chooses a free one. */
  internalPort: number;
  engineInternalHost: string;
  /** As `internalPort`. */
  engineInternalPort: number;
  /** Root of the public address, without `/v1`. */
  publicUrl: string;
  enginePublicUrl: string;
  dataDir: DataDir;
  /** Unset: pretty in a terminal, JSON elsewhere. */
  logFormat: 'pretty' | 'json' | undefined;
  /** Unset: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** Unset: a queue in this process. */
  amqpUrl: string | undefined;
  /** Unset: files in the data directory. */
  s3: S3Settings | undefined;
};

/** The files of a single node, as absolute paths. */
export type DataDir = {
  root: string;
  postgres: string;
  objects: string;
  /** Temporary files of the engine. */
  work: string;
  secrets: string;
  /** The first API key, if it was created at a start without a terminal. */
  apiKey: string;
  /** The sign-in link of a start without a terminal. */
  consoleLink: string;
  sampleVideo: string;
};

/** Reads the settings. Throws a SettingsError that names the invalid variables. */
export function readSingleNodeSettings(
  env: NodeJS.ProcessEnv,
  installation: Pick<Installation, 'dataDir'> = CHECKOUT,
): SingleNodeSettings {
  const values = readSettings(settings, env);
  if (values.PORT === values.ENGINE_PORT) {
    throw new SettingsError(`PORT and ENGINE_PORT are both ${values.PORT}. Set one of them to another port.`);
  }
  return {
    host: values.HOST,
    port: values.PORT,
    enginePort: values.ENGINE_PORT,
    internalPort: values.INTERNAL_PORT,
    engineInternalHost: values.ENGINE_INTERNAL_HOST,
    engineInternalPort: values.ENGINE_INTERNAL_PORT,
    publicUrl: values.PUBLIC_URL ?? `http://localhost:${values.PORT}`,
    enginePublicUrl: values.ENGINE_PUBLIC_URL ?? `http://localhost:${values.ENGINE_PORT}`,
    dataDir: dataDirAt(resolve(values.DATA_DIR ?? installation.dataDir)),
    logFormat: values.LOG_FORMAT,
    databaseUrl: values.DATABASE_URL,
    amqpUrl: values.AMQP_URL,
    s3: env.S3_ENDPOINT || env.S3_BUCKET ? readS3Settings(env) : undefined,
  };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether only programs on this machine can reach the node: it listens on a loopback address, and its public URL has one, too. So there is
 * no proxy in front of it.
 */
export function servesOnlyThisMachine(settings: Pick<SingleNodeSettings, 'host' | 'publicUrl'>): boolean {
  return [settings.host, new URL(settings.publicUrl).hostname].every(isLoopback);
}

/** Whether a host, as in a URL, is this machine. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  return address === 'localhost' || LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function dataDirAt(root: string): DataDir {
  return {
    root,
    postgres: join(root, 'postgres'),
    objects: join(root, 'objects'),
    work: join(root, 'work'),
    secrets: join(root, 'secrets.json'),
    apiKey: join(root, 'api-key'),
    consoleLink: join(root, 'console-link'),
    sampleVideo: join(root, 'sample.mp4'),
  };
}
