import { hash, randomInt } from 'node:crypto';
import type { Environment, KeyPrefix } from '../db/schema.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 characters carry 256 bits. */
const SECRET_LENGTH = 43;

/** `svc_live_` or `svc_test_` and at least 16 characters: what a key may look like. */
const API_KEY_SHAPE = /^svc_(live|test)_[A-Za-z0-9]{16,128}$/;

/** What is kept of a key, and shown in lists. */
export type StoredSecret = { hash: Buffer; prefix: KeyPrefix; last4: string; environment: Environment };

/** Random base62 text of the given length. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** A new API key. This is the only time its secret is known. */
export function newApiKeySecret(environment: Environment): string {
  return `svc_${environment}_${randomBase62(SECRET_LENGTH)}`;
}

/** What to store of a secret, or null when it does not look like an API key at all. */
export function describeSecret(secret: string): StoredSecret | null {
  const environment = API_KEY_SHAPE.exec(secret)?.[1] as Environment | undefined;
  if (environment === undefined) return null;
  return { hash: hashSecret(secret), prefix: `svc_${environment}_`, last4: secret.slice(-4), environment };
}

/** SHA-256: enough for secrets of 256 random bits, and it makes the look-up one index probe. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
