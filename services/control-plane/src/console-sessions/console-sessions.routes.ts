import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { ConsoleSessionRow } from '../db/schema.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import type { ConsoleSessionsService } from './console-sessions.service.ts';
import type { UsedSession } from './console-sessions.store.ts';
import { csrfTokenOf, type SessionCookie } from './session-cookie.ts';

type Operation =
  | 'createConsoleSession'
  | 'getConsoleSession'
  | 'deleteConsoleSession'
  | 'listConsoleSessions'
  | 'revokeConsoleSession'
  | 'revokeConsoleSessions';

export function consoleSessionRoutes(deps: {
  sessions: ConsoleSessionsService;
  cookie: SessionCookie;
  failures: FailureLimit;
  publicUrl: string;
}): Record<Operation, RequestHandler> {
  const { sessions, cookie, failures, publicUrl } = deps;
  return {
    createConsoleSession: async (req, res) => {
      // Otherwise a foreign page could sign people in to its own workspace, and see what they upload.
      cookie.refuseOtherOrigins(req);
      const { code }: components['schemas']['ConsoleSignIn'] = req.body;
      const token = await failures.guard(clientNetwork(req), code, () =>
        sessions.signIn(code, req.get('user-agent')),
      );
      cookie.set(res, token);
      res.status(201).json(toSession(await sessions.verify(token), token));
    },

    getConsoleSession: (req, res) => {
      const credential = credentialOf(req);
      const token = cookie.tokenOf(req);
      if (credential.kind !== 'session' || token === undefined)
        throw new Error('The contract requires a session');
      res.json(toSession(credential, token));
    },

    deleteConsoleSession: async (req, res) => {
      const { workspace_id, id } = credentialOf(req);
      await sessions.revoke(workspace_id, id);
      cookie.clear(res);
      res.status(204).end();
    },

    listConsoleSessions: async (req, res) => {
      const { workspace_id, id } = credentialOf(req);
      const page = await sessions.list(workspace_id, pageOf(req));
      const data = page.data.map((row) => ({ ...toEntry(row), current: row.id === id }));
      sendPage(req, res, publicUrl, { ...page, data });
    },

    revokeConsoleSession: async (req, res) => {
      await sessions.revoke(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },

    revokeConsoleSessions: async (req, res) => {
      await sessions.revokeAll(credentialOf(req).workspace_id);
      res.status(204).end();
    },
  };
}

function toSession(session: UsedSession, token: string): components['schemas']['ConsoleSession'] {
  return {
    ...toEntry(session),
    workspace: { id: session.workspace_id, name: session.workspace_name },
    csrfToken: csrfTokenOf(token),
  };
}

function toEntry(row: ConsoleSessionRow): Omit<components['schemas']['ConsoleSessionEntry'], 'current'> {
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
