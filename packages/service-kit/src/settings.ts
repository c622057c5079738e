import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Something that the operator must correct, such as a setting. The message says what. It shows no secret. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/**
 * Reads settings from environment variables. The keys of `schema` are the names of the variables. An empty value counts
 * as unset. Throws a SettingsError that names all missing and invalid variables, without their values.
 */
export function readSettings<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.infer<S> {
  const present = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, env[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return present[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
  });
  throw new SettingsError([...new Set(lines)].join('\n'));
}

const wholeNumber = (min: number, max: number, what: string) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be ${what}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${what}`);

/** As `AllowedOrigins` in the contract. */
const ORIGIN = /^https?:\/\/(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?$/;

const is256Bits = (bytes: Buffer) => bytes.byteLength === 32;

/** An address or a range. `ipaddr` alone also accepts short forms of IPv4: to it, 1 is 0.0.0.1. */
const isProxy = (text: string) =>
  isIP(text.split('/', 1)[0] ?? '') !== 0 && (ipaddr.isValidCIDR(text) || ipaddr.isValid(text));

/** The types of settings. Each parses the text of an environment variable. */
export const setting = {
  /** A TCP port. With 0 the system chooses a free one. */
  port: () => wholeNumber(0, 65535, 'a port number from 0 to 65535'),
  /** A whole number from `min` to `max`. */
  integer: (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
    wholeNumber(
      min,
      max,
      `a whole number of at least ${min}${max < Number.MAX_SAFE_INTEGER ? ` and at most ${max}` : ''}`,
    ),
  /** An absolute http(s) address. Trailing slashes are removed. */
  httpUrl: () =>
    z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
      .transform((url) => url.replace(/\/+$/, '')),
  /** Web origins such as `https://www.example.com,https://*.example.org`, separated by commas. */
  origins: () =>
    z
      .string()
      .transform((list) => list.split(',').map((origin) => origin.trim()))
      .refine(
        (origins) => origins.every((origin) => ORIGIN.test(origin)),
        'must be origins like https://www.example.com or https://*.example.com, separated by commas',
      ),
  /** The address of a message broker, with user and password. */
  amqpUrl: () => z.url({ protocol: /^amqps?$/, error: 'must be an amqp:// or amqps:// address' }),
  postgresUrl: () =>
    z.url({
      protocol: /^postgres(ql)?$/,
      error:
        'must be a postgres:// address; percent-encode special characters of the password, such as # as %23',
    }),
  /** Any non-empty text. */
  text: () => z.string(),
  /** A shared secret of at least 32 characters. */
  secret: () => z.string().min(32, 'must have at least 32 characters'),
  /** Exactly 32 bytes in base64, e.g. from `openssl rand -base64 32`. */
  key256: () =>
    z
      .string()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine(is256Bits, 'must be 32 bytes in base64 (openssl rand -base64 32)'),
  /** Several `key256`, separated by commas. */
  keys256: () =>
    z
      .string()
      .transform((list) => list.split(',').map((text) => Buffer.from(text, 'base64')))
      .refine((keys) => keys.every(is256Bits), 'must be 32 bytes in base64 each, separated by commas'),
  /** IP addresses and CIDR ranges such as `10.0.0.0/8,fd00::1`, separated by commas. */
  proxies: () =>
    z
      .string()
      .transform((list) => list.split(',').map((proxy) => proxy.trim()))
      .refine(
        (proxies) => proxies.every(isProxy),
        'must be addresses or ranges like 10.0.0.0/8, separated by commas',
      ),
};
