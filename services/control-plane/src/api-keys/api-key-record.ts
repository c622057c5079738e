import type { components } from '@framelane/openapi/types';
import type { ApiKeyRow } from '../db/schema.ts';

/** What the public sees of a key; never the secret. */
export type ApiKeyRecord = components['schemas']['ApiKey'];

/** The public record of a row, its status as of `now`. */
export function toApiKeyRecord(row: ApiKeyRow, now: Date): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    environment: row.environment,
    permissions: row.permissions,
    status: statusOf(row, now),
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

/** A revoked key stays revoked, also when it would have expired since. */
export function statusOf(
  row: Pick<ApiKeyRow, 'revoked_at' | 'expires_at'>,
  now: Date,
): ApiKeyRecord['status'] {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active';
}
