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
    email: row.person_email,
    environments: [...row.environments],
    permissions: row.permissions,
    administrator: row.administrator,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    idleExpiresAt: row.idle_expires_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

/** The session of a request in the workspace and environment that it chose, with its CSRF token. */
export function toCurrentSession(
  session: VerifiedSession,
  sessionsOfWorkspaces: readonly VerifiedSession[],
  token: string,
): components['schemas']['ConsoleSession'] {
  const { environments: _, ...record } = toSessionRecord(session);
  return {
    ...record,
    environment: session.environment,
    workspace: { id: session.workspace_id, name: session.workspace_name },
    workspaces: sessionsOfWorkspaces.map(({ workspace_id, workspace_name, environments, permissions }) => ({
      id: workspace_id,
      name: workspace_name,
      environments: [...environments],
      permissions,
    })),
    csrfToken: csrfTokenOf(token),
  };
}
