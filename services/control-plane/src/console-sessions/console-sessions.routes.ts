import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { SessionCookie } from '../auth/session-cookie.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import { toCurrentSession } from './console-session-record.ts';
import type { ConsoleSessionsService } from './console-sessions.service.ts';

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
      const token = await failures.guard(clientNetwork(req), { kind: 'code', secret: code }, () =>
        sessions.signIn(code, req.get('user-agent')),
      );
      cookie.set(res, token);
      res.status(201).json(toCurrentSession(await sessions.verify(token), token));
    },

    getConsoleSession: (req, res) => {
      const credential = credentialOf(req);
      const token = cookie.tokenOf(req);
      if (credential.kind !== 'session' || token === undefined)
        throw new Error('The contract requires a session');
      res.json(toCurrentSession(credential, token));
    },

    deleteConsoleSession: async (req, res) => {
      const { workspace_id, id } = credentialOf(req);
      await sessions.signOut(workspace_id, id);
      cookie.clear(res);
      res.status(204).end();
    },

    listConsoleSessions: async (req, res) => {
      const { workspace_id, id } = credentialOf(req);
      const page = await sessions.list(workspace_id, pageOf(req));
      const data = page.data.map((row) => ({ ...row, current: row.id === id }));
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
