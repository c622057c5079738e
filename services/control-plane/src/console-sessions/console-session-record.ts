import type { components } from '@framelane/openapi/types';
import type { VerifiedSession } from '../auth/authentication.ts';
import { csrfTokenOf } from '../auth/session-cookie.ts';
import type { ConsoleSessionRow } from '../db/schema.ts';

/** A session as the list shows it. */
export type SessionRecord = Omit<components['schemas']['ConsoleSessionEntry'], 'current'>;

export function toSessionRecord(row: ConsoleSessionRow): SessionRecord {
  return {
    id: row.id,
    name: row.name,
    environment: row.environment,
    permissions: row.permissions,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    idleExpiresAt: row.idle_expires_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

/** The session of a request, with its CSRF token. */
export function toCurrentSession(
  session: VerifiedSession,
  token: string,
): components['schemas']['ConsoleSession'] {
  return {
    ...toSessionRecord(session),
    workspace: { id: session.workspace_id, name: session.workspace_name },
    csrfToken: csrfTokenOf(token),
  };
}
