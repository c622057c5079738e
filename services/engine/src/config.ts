import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressRange, readRanges } from '@framelane/address-guard/address-ranges';
import { HARDWARE } from '@framelane/contracts/hardware';
import { RUNGS } from '@framelane/contracts/renditions';
import { readSettings, SettingsError, setting } from '@framelane/service-kit/settings';
import { z } from 'zod';
import { PRESETS } from './encoders/encoder.ts';
import { HARDWARE_INTERFACES } from './encoders/hardware-interfaces.ts';
import { DEFAULT_MAX_RATES, type MaxRates } from './plan/ladder.ts';
import type { RecognizerSettings } from './recognizers/recognizer-settings.ts';
import { DEFAULT_TRANSCODE_LIMITS, SANDBOXES, type TranscodeSettings } from './transcode-settings.ts';

/** Maximum bit rates of the rungs in kilobits per second, lowest rung first. */
function maxRates() {
  const message = `must be ${RUNGS.length} increasing numbers from 100 to 100000, in kilobits per second, for ${RUNGS.join(', ')}`;
  return z
    .string()
    .transform((text) => text.split(',').map((rate) => (/^\d{3,6}$/.test(rate) ? Number(rate) : 0)))
    .refine(
      (rates) =>
        rates.length === RUNGS.length &&
        rates.every((rate, at) => rate >= 100 && rate <= 100_000 && rate > (rates[at - 1] ?? 0)),
      message,
    )
    .transform(
      (rates) => Object.fromEntries(RUNGS.map((name, at) => [name, 1000 * (rates[at] ?? 0)])) as MaxRates,
    );
}

/** The longest drain of uploads: a day. */
const MAX_DRAIN_SECONDS = 86_400;

/** What an engine does: receive uploads, transcode videos, or both. */
export const ENGINE_ROLES = ['upload', 'transcode'] as const;
export type EngineRole = (typeof ENGINE_ROLES)[number];

function roles() {
  const isRole = (role: string): role is EngineRole => ENGINE_ROLES.some((each) => each === role);
  return z
    .string()
    .transform((text) => text.split(',').map((role) => role.trim()))
    .refine((given) => given.every(isRole), `must be ${ENGINE_ROLES.join(' or ')}, or both with a comma`)
    .transform((given) => ENGINE_ROLES.filter((role) => given.includes(role)));
}

const settings = z.object({
  HOST: setting.text().default('127.0.0.1'),
  ENGINE_PORT: setting.port().default(8090),
  ENGINE_INTERNAL_HOST: setting.text().default('127.0.0.1'),
  ENGINE_INTERNAL_PORT: setting.port().default(8091),
  CONTROL_PLANE_INTERNAL_URL: setting.httpUrl(),
  PUBLIC_URL: setting.httpUrl(),
  SERVICE_SECRET: setting.secret(),
  ENGINE_ROLES: roles().default([...ENGINE_ROLES]),
  ENGINE_SLOTS: setting.integer(1).default(Math.max(1, Math.floor(availableParallelism() / 4))),
  ENGINE_WORK_DIR: setting.text().optional(),
  ENGINE_SANDBOX: z.enum(SANDBOXES).default('auto'),
  ENGINE_VIDEO_ENCODER: z.enum(['software', ...HARDWARE]).default('software'),
  ENGINE_VIDEO_ENCODER_DEVICE: z
    .string()
    .regex(/^\/dev(\/[\w-]+)+$/, 'must be the path of a device, such as /dev/dri/renderD128')
    .optional(),
  ENGINE_PRESET: z.enum(PRESETS).default('veryfast'),
  ENGINE_MAX_RATES: maxRates().default(DEFAULT_MAX_RATES),
  ENGINE_SURROUND: z.enum(['yes', 'no']).default('no'),
  ENGINE_TEN_BIT: z.enum(['yes', 'no']).default('no'),
  ENGINE_I_FRAMES: z.enum(['yes', 'no']).default('yes'),
  RECOGNIZER_URL: setting.httpUrl().optional(),
  RECOGNIZER_API_KEY: setting.text().optional(),
  RECOGNIZER_PROGRAM: setting.text().optional(),
  RECOGNIZER_MODEL: setting.text().optional(),
  RECOGNIZER_TIMEOUT_SECONDS: setting.integer(1, 86_400).default(600),
  ENGINE_TRANSCRIPTIONS: setting.integer(1).default(1),
  TRUST_PROXY: setting.proxies().default([]),
  ENGINE_MAX_UPLOADS: setting.integer(1).default(200),
  ENGINE_MAX_IMPORTS: setting.integer(1).default(8),
  IMPORT_ALLOW_CIDRS: setting
    .text()
    .transform(readRanges)
    .refine((ranges) => ranges !== null, 'must be ranges like 10.0.0.0/8 or fd00::/8, separated by commas')
    .default([]),
  UPLOAD_IDLE_SECONDS: setting.integer(1).default(60),
  UPLOAD_CONTENDED_BYTES_PER_SECOND: setting.integer(0).default(65_536),
  UPLOAD_DRAIN_SECONDS: setting.integer(0, MAX_DRAIN_SECONDS).default(10),
});

/** The names of the settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape);

/**
 * Timeout of a readiness check. The check of the object store takes up to five seconds. All engines share that store, so a
 * shorter timeout would take all of them out of service while it is only slow. Probes must wait longer than this.
 */
export const READINESS_TIMEOUT_MS = 6_000;

/** A slower transfer is dead or an attack. */
const MIN_BYTES_PER_SECOND = 1024;

/** Longer than the time between two small parts from one client. */
const PAUSE_SECONDS = 10;

/** Long enough that a fast transfer is not taken for a slow one because of a short interruption. */
const RECENT_SECONDS = 10;

/** How long the engine retries to register a stored file: about as long as a client waits for the response. */
const REGISTER_SECONDS = 20;

/** How many uploads an engine accepts, how slow they may be, and how long a stop waits for them. */
export type UploadLimits = {
  /** Concurrent uploads. */
  maxConcurrent: number;
  /** Seconds without a byte after which an upload ends. */
  idleSeconds: number;
  /** Lowest average throughput of a transfer, checked once the transfer is ten seconds old. */
  minBytesPerSecond: number;
  /** A transfer with a lower recent throughput gives up its slot when another one needs it and no slot is free. */
  contendedBytesPerSecond: number;
  /** Seconds over which the recent throughput is measured. */
  recentSeconds: number;
  /** Seconds without a request after which an open resumable upload pauses. Then another engine or a form can use its ticket. */
  pauseSeconds: number;
  /** Seconds in which a stored file must be registered. */
  registerSeconds: number;
  /** At a stop, uploads in progress may complete within this time. Then the engine aborts them, and their clients retry. */
  drainSeconds: number;
};

/** How many imports an engine fetches at the same time, and from where. */
export type ImportSettings = {
  maxConcurrent: number;
  /** Files in these ranges can be imported although they are not on the public internet. */
  allowedRanges: readonly AddressRange[];
  /** Pause between two claims while no import is due. */
  pollSeconds: number;
  /** Time limit for the connection to a server, TLS included. */
  connectSeconds: number;
  /** Time limit for the response headers, from then on. */
  headSeconds: number;
  /** Seconds to wait after the first failed try, the second, and so on. */
  pauseSeconds: readonly number[];
};

/** The engine's configuration. Secrets are in a separate member, so that the rest can be shown. */
export type EngineConfig = {
  /** At least one, in the order of ENGINE_ROLES. */
  roles: readonly EngineRole[];
  /** The public listener, for uploads only. */
  http: { host: string; port: number };
  /** The listener for operators. It must not be reachable from the internet. */
  internalHttp: { host: string; port: number };
  /** Base URL of the control plane's internal listener. */
  controlPlaneUrl: string;
  /** The root of the control plane's public address, for the types of problems. */
  publicUrl: string;
  /** Addresses and ranges of the proxies whose X-Forwarded-For the engine trusts. */
  trustedProxies: readonly string[];
  uploads: UploadLimits;
  imports: ImportSettings;
  transcode: TranscodeSettings;
  secrets: {
    service: string;
    /** The API key of the recogniser of speech, if it needs one. */
    recognizer: string | undefined;
  };
};

/** What recognises speech, if anything does. Throws a SettingsError for two recognisers, and a program without a model. */
function recognizerOf(values: z.infer<typeof settings>): RecognizerSettings | undefined {
  const { RECOGNIZER_URL: url, RECOGNIZER_PROGRAM: program, RECOGNIZER_MODEL: model } = values;
  const common = { timeoutSeconds: values.RECOGNIZER_TIMEOUT_SECONDS, slots: values.ENGINE_TRANSCRIPTIONS };
  if (url !== undefined && program !== undefined)
    throw new SettingsError('Set RECOGNIZER_URL or RECOGNIZER_PROGRAM, not both.');
  if (url !== undefined) return { kind: 'http', url, model, ...common };
  if (program === undefined) return undefined;
  if (model === undefined)
    throw new SettingsError('RECOGNIZER_PROGRAM needs RECOGNIZER_MODEL, the path of its model.');
  return { kind: 'program', program, model, ...common };
}

/** What encodes video on a device, if anything does. Throws a SettingsError for a device that nothing uses. */
function hardwareOf(values: z.infer<typeof settings>): TranscodeSettings['hardware'] {
  const { ENGINE_VIDEO_ENCODER: kind, ENGINE_VIDEO_ENCODER_DEVICE: device } = values;
  if (kind !== 'software') return { kind, device: device ?? HARDWARE_INTERFACES[kind].defaultDevice };
  if (device !== undefined)
    throw new SettingsError(
      `ENGINE_VIDEO_ENCODER_DEVICE needs ENGINE_VIDEO_ENCODER: ${HARDWARE.join(', ')}.`,
    );
  return undefined;
}

/** Reads the configuration. Throws a SettingsError that names each missing or invalid setting. */
export function readEngineConfig(env: NodeJS.ProcessEnv): EngineConfig {
  // An empty value is an error, because an engine needs a role. Other settings count as unset if they are empty.
  const ENGINE_ROLES = env.ENGINE_ROLES === '' ? ',' : env.ENGINE_ROLES;
  const values = readSettings(settings, { ...env, ENGINE_ROLES });
  return {
    roles: values.ENGINE_ROLES,
    http: { host: values.HOST, port: values.ENGINE_PORT },
    internalHttp: { host: values.ENGINE_INTERNAL_HOST, port: values.ENGINE_INTERNAL_PORT },
    controlPlaneUrl: values.CONTROL_PLANE_INTERNAL_URL,
    publicUrl: values.PUBLIC_URL,
    trustedProxies: values.TRUST_PROXY,
    uploads: {
      maxConcurrent: values.ENGINE_MAX_UPLOADS,
      idleSeconds: values.UPLOAD_IDLE_SECONDS,
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
      contendedBytesPerSecond: values.UPLOAD_CONTENDED_BYTES_PER_SECOND,
      recentSeconds: RECENT_SECONDS,
      pauseSeconds: PAUSE_SECONDS,
      registerSeconds: REGISTER_SECONDS,
      drainSeconds: values.UPLOAD_DRAIN_SECONDS,
    },
    imports: {
      maxConcurrent: values.ENGINE_MAX_IMPORTS,
      allowedRanges: values.IMPORT_ALLOW_CIDRS ?? [],
      pollSeconds: 1,
      connectSeconds: 10,
      headSeconds: 15,
      pauseSeconds: [2, 10, 30, 60],
    },
    transcode: {
      slots: values.ENGINE_SLOTS,
      // An engine empties its folder when it starts, so engines on one machine must not share one. The port distinguishes them,
      // because every engine has an internal listener.
      workDir: values.ENGINE_WORK_DIR ?? join(tmpdir(), `framelane-engine-${values.ENGINE_INTERNAL_PORT}`),
      sandbox: values.ENGINE_SANDBOX,
      preset: values.ENGINE_PRESET,
      maxRates: values.ENGINE_MAX_RATES,
      surround: values.ENGINE_SURROUND === 'yes',
      tenBit: values.ENGINE_TEN_BIT === 'yes',
      iFrames: values.ENGINE_I_FRAMES === 'yes',
      threads: Math.ceil(availableParallelism() / values.ENGINE_SLOTS),
      hardware: hardwareOf(values),
      recognizer: recognizerOf(values),
      limits: DEFAULT_TRANSCODE_LIMITS,
    },
    secrets: { service: values.SERVICE_SECRET, recognizer: values.RECOGNIZER_API_KEY },
  };
}
