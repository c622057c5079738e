import { type AddressRange, readRanges } from '@framelane/address-guard/address-ranges';
import { HDR_CHOICES, type HdrChoice } from '@framelane/contracts/hdr';
import { PACKAGING_NAMES, type PackagingName } from '@framelane/contracts/packaging';
import { type AlternativeCodec, VIDEO_CODECS } from '@framelane/contracts/renditions';
import { LARGEST_STREAM_BYTES } from '@framelane/object-store/s3-parts';
import { readSettings, setting } from '@framelane/service-kit/settings';
import { z } from 'zod';
import { isSafeIssuer, type OpenIdSettings, openIdSettingsOf } from './openid/openid-settings.ts';
import { DEFAULT_PICTURE_LIMITS, type PictureLimits } from './pictures/picture-limits.ts';
import { codecsSettingOf, readCodecs } from './videos/codecs-setting.ts';

const GIB = 1024 ** 3;

/** The lease of a transfer expires when the engine does not renew it for this long. */
const UPLOAD_LEASE_SECONDS = 60;

/** The lease of a task expires when the engine does not renew it for this long. */
const TASK_LEASE_SECONDS = 30;

/** Pause after the first failed try of a task; it doubles with each further one. */
const RETRY_BACKOFF_SECONDS = 10;

/** Interval of the maintenance steps that find expired leases and lost work. */
const MAINTENANCE_SECONDS = 15;

/** Between the first and the second pass of a purge. The later passes find objects that an engine stored late. */
const PURGE_REPEAT_SECONDS = 600;

/** Between two writes of the bandwidth that is counted in memory. */
const USAGE_FLUSH_SECONDS = 5;

/** Beacons that one network can send per minute: those of 300 viewers at once. */
const BEACONS_PER_MINUTE = 1200;

/** Pause in seconds before each delivery attempt: three days in all. */
const WEBHOOK_RETRY_SCHEDULE = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Time limit of one delivery attempt. */
const WEBHOOK_TIMEOUT_SECONDS = 15;

/** Address ranges, separated by commas. */
const addressRanges = () =>
  setting
    .text()
    .transform(readRanges)
    .refine((ranges) => ranges !== null, 'must be ranges like 10.0.0.0/8 or fd00::/8, separated by commas')
    .default([]);

const settings = z.object({
  HOST: setting.text().default('127.0.0.1'),
  PORT: setting.port().default(8080),
  INTERNAL_HOST: setting.text().default('127.0.0.1'),
  INTERNAL_PORT: setting.port().default(8081),
  PUBLIC_URL: setting.httpUrl(),
  ENGINE_PUBLIC_URL: setting.httpUrl(),
  DATABASE_URL: setting.postgresUrl(),
  SERVICE_SECRET: setting.secret(),
  CONTENT_KEY_SECRET: setting.key256(),
  CONTENT_KEY_SECRET_PREVIOUS: setting.keys256().default([]),
  BOOTSTRAP_WORKSPACE_ID: setting.text().optional(),
  BOOTSTRAP_API_KEY: setting.text().optional(),
  MAX_UPLOAD_BYTES: setting.integer(1, LARGEST_STREAM_BYTES).default(10 * GIB),
  WORKSPACE_MAX_UPLOADS: setting.integer(1).default(100),
  WORKSPACE_MAX_UPLOAD_BYTES: setting.integer(1).default(256 * GIB),
  UPLOAD_MAX_HOURS: setting.integer(1).default(168),
  IMPORT_ALLOW_CIDRS: addressRanges(),
  IMPORT_TIMEOUT_SECONDS: setting.integer(60, 7 * 86_400).default(86_400),
  PIECE_SECONDS: setting.integer(1, 3600).default(60),
  WORKSPACE_MAX_TASKS: setting.integer(1).optional(),
  RECOGNIZER_URL: setting.httpUrl().optional(),
  RECOGNIZER_PROGRAM: setting.text().optional(),
  AUDIO_ONLY: z.enum(['yes', 'no'], 'must be yes or no').default('no'),
  PACKAGING: z.enum(PACKAGING_NAMES, `must be ${PACKAGING_NAMES.join(' or ')}`).default(PACKAGING_NAMES[0]),
  CODECS: setting
    .text()
    .transform(readCodecs)
    .refine((codecs) => codecs !== null, `must be some of ${VIDEO_CODECS.join(', ')}, separated by commas`)
    .default([]),
  HDR: z.enum(HDR_CHOICES, `must be ${HDR_CHOICES.join(' or ')}`).default(HDR_CHOICES[0]),
  REQUEST_LOG: z.enum(['yes', 'no'], 'must be yes or no').default('yes'),
  TEST_VIDEO_HOURS: setting.integer(1).default(24),
  SOURCE_RETENTION_DAYS: setting.integer(0, 3650).optional(),
  SEGMENT_SERVING: z.enum(['proxy', 'redirect'], 'must be proxy or redirect').default('proxy'),
  SEGMENT_CACHE_MIB: setting.integer(0, 65_536).default(128),
  CDN_BASE_URL: setting.httpUrl().optional(),
  EMBED_ALLOWED_ORIGINS: setting.origins().optional(),
  ANALYTICS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ANALYTICS_RETENTION_DAYS: setting.integer(1, 3650).default(400),
  ANALYTICS_COUNTRY_HEADER: setting
    .text()
    .regex(/^[\w-]+$/, 'must be the name of a header, such as CF-IPCountry')
    .transform((name) => name.toLowerCase())
    .optional(),
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an https:// address' })
    .refine(isSafeIssuer, 'must be an https:// address; http:// is for this machine only')
    .optional(),
  OIDC_CLIENT_ID: setting.text().optional(),
  OIDC_CLIENT_SECRET: setting.text().optional(),
  OIDC_NAME: setting.text().max(50, 'must have at most 50 characters').optional(),
  RATE_LIMIT_REQUESTS_PER_MINUTE: setting.integer(0).default(3000),
  RATE_LIMIT_FAILURES_PER_MINUTE: setting.integer(0).default(60),
  TRUST_PROXY: setting.proxies().default([]),
  WEBHOOK_ALLOW_CIDRS: addressRanges(),
});

/** The names of the settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape);

/** Time limit for receiving a request. */
const REQUEST_SECONDS = 30;

/** The configuration of the control plane. */
export type ControlPlaneConfig = {
  /** The public listener. */
  http: { host: string; port: number };
  /** The listener for engines; never exposed to the public. */
  internalHttp: { host: string; port: number };
  /** Time limit for receiving a request. */
  requestSeconds: number;
  /** Root of the public address, without `/v1` and without a trailing slash. */
  publicUrl: string;
  /** Root of the engine's public address: where clients upload. */
  enginePublicUrl: string;
  databaseUrl: string;
  /** The workspace and the key to create at the start unless they exist. */
  bootstrap: { workspaceId: string | undefined; apiKey: string | undefined };
  /** `maxHours` limits how long progress extends a ticket. */
  uploads: { maxBytes: number; leaseSeconds: number; maxHours: number };
  /** Concurrent uploads of one workspace at all engines: their number, and their bytes in total. */
  workspaceUploads: { count: number; bytes: number };
  /**
   * Imports: the time within which a file must arrive, from the request on, and the ranges outside the public internet in which the host may
   * be. Engines have the same ranges.
   */
  imports: { timeoutSeconds: number; allowedRanges: readonly AddressRange[] };
  attempts: {
    leaseSeconds: number;
    retryBackoffSeconds: number;
    /** Duration of a piece in seconds. A video longer than two pieces is transcoded in pieces. */
    pieceSeconds: number;
    /** Tasks of one workspace that engines work on at the same time; undefined for no limit. */
    workspaceMaxTasks: number | undefined;
    /** Whether files with sound alone are accepted by default. */
    acceptsAudioOnly: boolean;
  };
  /** Whether engines can recognise speech: they have the same settings. */
  hasRecognizer: boolean;
  /** Pause between two claims of background work, unless a commit wakes it. */
  pollSeconds: number;
  maintenanceSeconds: number;
  purgeRepeatSeconds: number;
  pictures: PictureLimits;
  usageFlushSeconds: number;
  /** Age at which a video created with a test key is deleted. */
  testVideoHours: number;
  /** Days for which sources are kept after `ready` or `failed` by default: null for always, 0 for never. */
  sourceRetentionDays: number | null;
  /** The packaging of the segments of new videos by default. */
  packaging: PackagingName;
  /** The codecs that new videos have beside H.264 by default. */
  codecs: readonly AlternativeCodec[];
  /** What becomes of high dynamic range in these codecs by default. */
  hdr: HdrChoice;
  /** Whether the requests of API keys are stored for their workspaces. */
  requestLog: boolean;
  rateLimits: {
    /** Requests that one API key or console session can send per minute to each control plane; 0 means no limit. */
    requestsPerMinute: number;
    /**
     * Invalid keys, sessions and sign-in codes, and unknown upload tokens, that one network can send per minute to each control
     * plane; 0 means no limit.
     */
    failuresPerMinute: number;
  };
  /** Requests with a credential that each control plane handles at the same time. */
  concurrentRequests: number;
  /** Addresses and ranges of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  playback: {
    /** The control plane sends segments itself, or redirects players to the object store. */
    mode: 'proxy' | 'redirect';
    /** Replaces `publicUrl` in the URLs of segments: a CDN that fetches from `publicUrl`. */
    cdnUrl: string | undefined;
  };
  /**
   * Origins whose pages may show the player page in a frame, for videos that have no list of their own; undefined
   * for all.
   */
  embedOrigins: readonly string[] | undefined;
  analytics: {
    /** Whether views are counted. */
    enabled: boolean;
    /** Days for which the figures are kept. */
    retentionDays: number;
    /** The header in which a proxy names the country of a viewer, in lower case; undefined for none. */
    countryHeader: string | undefined;
    /** Beacons that one network can send per minute to each control plane, and reports that its requests with client data can begin; 0 means no limit. */
    beaconsPerMinute: number;
  };
  /** The provider that signs people in to the console; undefined without one. */
  openId: OpenIdSettings | undefined;
  /** Memory for segments that are requested often, in MiB; 0 for none. */
  segmentCacheMib: number;
  webhooks: {
    /** Endpoints in these ranges are allowed although they are not on the public internet, also over http. */
    allowedRanges: readonly AddressRange[];
    /** Pause before each delivery attempt. */
    retryScheduleSeconds: readonly number[];
    timeoutSeconds: number;
  };
  secrets: {
    service: string;
    contentKey: Uint8Array;
    /** Decrypt values that were sealed with them. New values are sealed with `contentKey`. */
    previousContentKeys: readonly Uint8Array[];
  };
};

/** Reads the configuration; throws a SettingsError naming what is missing or wrong. */
export function readControlPlaneConfig(env: NodeJS.ProcessEnv): ControlPlaneConfig {
  const values = readSettings(settings, env);
  return {
    http: { host: values.HOST, port: values.PORT },
    internalHttp: { host: values.INTERNAL_HOST, port: values.INTERNAL_PORT },
    requestSeconds: REQUEST_SECONDS,
    publicUrl: values.PUBLIC_URL,
    enginePublicUrl: values.ENGINE_PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    bootstrap: { workspaceId: values.BOOTSTRAP_WORKSPACE_ID, apiKey: values.BOOTSTRAP_API_KEY },
    uploads: {
      maxBytes: values.MAX_UPLOAD_BYTES,
      leaseSeconds: UPLOAD_LEASE_SECONDS,
      maxHours: values.UPLOAD_MAX_HOURS,
    },
    workspaceUploads: {
      count: values.WORKSPACE_MAX_UPLOADS,
      bytes: values.WORKSPACE_MAX_UPLOAD_BYTES,
    },
    imports: {
      timeoutSeconds: values.IMPORT_TIMEOUT_SECONDS,
      allowedRanges: values.IMPORT_ALLOW_CIDRS ?? [],
    },
    attempts: {
      leaseSeconds: TASK_LEASE_SECONDS,
      retryBackoffSeconds: RETRY_BACKOFF_SECONDS,
      pieceSeconds: values.PIECE_SECONDS,
      workspaceMaxTasks: values.WORKSPACE_MAX_TASKS,
      acceptsAudioOnly: values.AUDIO_ONLY === 'yes',
    },
    hasRecognizer: values.RECOGNIZER_URL !== undefined || values.RECOGNIZER_PROGRAM !== undefined,
    pollSeconds: 1,
    // In an overload, each request waits for about so many others: with 1,000 a second, for a quarter of a second.
    concurrentRequests: 256,
    maintenanceSeconds: MAINTENANCE_SECONDS,
    purgeRepeatSeconds: PURGE_REPEAT_SECONDS,
    pictures: DEFAULT_PICTURE_LIMITS,
    usageFlushSeconds: USAGE_FLUSH_SECONDS,
    testVideoHours: values.TEST_VIDEO_HOURS,
    sourceRetentionDays: values.SOURCE_RETENTION_DAYS ?? null,
    packaging: values.PACKAGING,
    codecs: codecsSettingOf(values),
    hdr: values.HDR,
    requestLog: values.REQUEST_LOG === 'yes',
    rateLimits: {
      requestsPerMinute: values.RATE_LIMIT_REQUESTS_PER_MINUTE,
      failuresPerMinute: values.RATE_LIMIT_FAILURES_PER_MINUTE,
    },
    trustedProxies: values.TRUST_PROXY,
    playback: { mode: values.SEGMENT_SERVING, cdnUrl: values.CDN_BASE_URL },
    embedOrigins: values.EMBED_ALLOWED_ORIGINS,
    analytics: {
      enabled: values.ANALYTICS === 'on',
      retentionDays: values.ANALYTICS_RETENTION_DAYS,
      countryHeader: values.ANALYTICS_COUNTRY_HEADER,
      beaconsPerMinute: BEACONS_PER_MINUTE,
    },
    openId: openIdSettingsOf(values),
    segmentCacheMib: values.SEGMENT_CACHE_MIB,
    webhooks: {
      allowedRanges: values.WEBHOOK_ALLOW_CIDRS ?? [],
      retryScheduleSeconds: WEBHOOK_RETRY_SCHEDULE,
      timeoutSeconds: WEBHOOK_TIMEOUT_SECONDS,
    },
    secrets: {
      service: values.SERVICE_SECRET,
      contentKey: values.CONTENT_KEY_SECRET,
      previousContentKeys: values.CONTENT_KEY_SECRET_PREVIOUS,
    },
  };
}
