import { newId } from '@framelane/contracts/ids';
import { Problem } from '@framelane/service-kit/problem';
import { PERMISSIONS } from '../auth/permissions.ts';
import type { Database } from '../db/database.ts';
import type { ApiKeyRow } from '../db/schema.ts';
import { describeSecret } from './api-key-secret.ts';
import { findKeyByHash, insertKey } from './api-keys.store.ts';

export type VerifiedKey = ApiKeyRow & { workspace_name: string };

/** Finds the living key behind a secret, or throws the 401 Problem that says why there is none. */
export async function verifyApiKey(db: Database, secret: string): Promise<VerifiedKey> {
  const described = describeSecret(secret);
  const key = described === null ? undefined : await findKeyByHash(db, described.hash);
  if (key === undefined) throw unauthorized('invalid_api_key', 'This API key does not exist.');
  if (key.revoked_at !== null) throw unauthorized('revoked_api_key', 'This API key has been revoked.');
  if (key.expires_at !== null && key.expires_at <= new Date()) {
    throw unauthorized('expired_api_key', 'This API key has expired.');
  }
  return key;
}

/** Makes a key with every permission. Resolves with false when a key with this secret is there already. */
export async function createFullKey(
  db: Database,
  key: { workspaceId: string; name: string; secret: string },
): Promise<boolean> {
  const described = describeSecret(key.secret);
  if (described === null) {
    throw new Error('An API key is svc_live_ or svc_test_ followed by at least 16 letters and digits');
  }
  return insertKey(db, {
    id: newId('key'),
    workspace_id: key.workspaceId,
    name: key.name,
    secret_hash: described.hash,
    prefix: described.prefix,
    last4: described.last4,
    environment: described.environment,
    permissions: [...PERMISSIONS],
  });
}

function unauthorized(code: string, detail: string): Problem {
  return new Problem(401, code, detail, { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } });
}
