import type { components } from '@framelane/openapi/types';
import type { ApiKeyRow } from '../db/schema.ts';
import type { FoundKey } from './api-keys.store.ts';

/** A key as the API returns it, without the secret. */
export type ApiKeyRecord = components['schemas']['ApiKey'];

/** The API record of a key. Its status is that at the time of the query. */
export function toApiKeyRecord(row: FoundKey): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    environment: row.environment,
    permissions: row.permissions,
    status: statusOf(row),
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

/** An expired key that was revoked is `revoked`. */
export function statusOf(row: Pick<FoundKey, 'revoked_at' | 'is_expired'>): ApiKeyRecord['status'] {
  if (row.revoked_at !== null) return 'revoked';
  return row.is_expired ? 'expired' : 'active';
}

/** The key of a request, as whoami returns it. */
export function toCurrentKey(key: ApiKeyRow): components['schemas']['Whoami']['apiKey'] {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    environment: key.environment,
    expiresAt: key.expires_at?.toISOString() ?? null,
    lastUsedAt: key.last_used_at?.toISOString() ?? null,
  };
}
