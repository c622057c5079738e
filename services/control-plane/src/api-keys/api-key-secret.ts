import { hashToken, randomBase62 } from '../auth/secret-tokens.ts';
import type { Environment, KeyPrefix } from '../db/schema.ts';

/** 43 base62 characters carry 256 bits. */
const SECRET_LENGTH = 43;

/** The format of a key: `svc_live_` or `svc_test_` and at least 16 characters. */
const API_KEY_SHAPE = /^svc_(live|test)_[A-Za-z0-9]{16,128}$/;

/** What the database stores of a key; lists show prefix and last 4 characters. */
export type StoredSecret = { hash: Buffer; prefix: KeyPrefix; last4: string; environment: Environment };

/** A new API key. */
export function newApiKeySecret(environment: Environment): string {
  return `svc_${environment}_${randomBase62(SECRET_LENGTH)}`;
}

/** What to store of a secret, or null when it does not have the format of an API key. */
export function describeSecret(secret: string): StoredSecret | null {
  const environment = API_KEY_SHAPE.exec(secret)?.[1] as Environment | undefined;
  if (environment === undefined) return null;
  return { hash: hashToken(secret), prefix: `svc_${environment}_`, last4: secret.slice(-4), environment };
}
