import type { components } from '@framelane/openapi/types';
import type { Request, Response } from 'express';
import { auditedRequestId } from '../audit/actor-of-request.ts';
import { credentialOf } from '../auth/authentication.ts';
import type { SessionCookie } from '../auth/session-cookie.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import { toCurrentSession } from './console-session-record.ts';
import type { ConsoleSessionsService } from './console-sessions.service.ts';

export function consoleSessionRoutes(deps: {
  sessions: ConsoleSessionsService;
  cookie: SessionCookie;
  failures: FailureLimit;
  publicUrl: string;
}) {
  const { sessions, cookie, failures, publicUrl } = deps;
  const sessionOf = (req: Request) => {
    const credential = credentialOf(req);
    const token = cookie.tokenOf(req);
    if (credential.kind !== 'session' || token === undefined)
      throw new Error('The contract requires a session');
    return { session: credential, token };
  };
  return {
    createConsoleSession: async (req, res) => {
      // Otherwise a foreign page could sign people in to its own workspace, and see what they upload.
      cookie.refuseOtherOrigins(req);
      const { code }: components['schemas']['ConsoleSignIn'] = req.body;
      const token = await failures.guard(clientNetwork(req), { kind: 'code', secret: code }, () =>
        sessions.signIn(code, { userAgent: req.get('user-agent'), requestId: auditedRequestId(req) }),
      );
      cookie.set(res, token);
      const workspaces = await sessions.verify(token);
      res.status(201).json(toCurrentSession(workspaces[0], workspaces, token));
    },

    getConsoleSession: (req, res) => {
      const { session, token } = sessionOf(req);
      res.json(toCurrentSession(session, session.workspaces, token));
    },

    deleteConsoleSession: async (req, res) => {
      await sessions.signOut(sessionOf(req).token, auditedRequestId(req));
      cookie.clear(res);
      clearStoredResponses(res);
      res.status(204).end();
    },

    listConsoleSessions: async (req, res) => {
      const { workspace_id, id } = credentialOf(req);
      const page = await sessions.list(workspace_id, pageOf(req));
      const data = page.data.map((row) => ({ ...row, current: row.id === id }));
      sendPage(req, res, publicUrl, { ...page, data });
    },

    revokeConsoleSession: async (req, res) => {
      const caller = credentialOf(req);
      await sessions.revokeAs(caller, String(req.params.id));
      if (req.params.id === caller.id) clearStoredResponses(res);
      res.status(204).end();
    },

    revokeConsoleSessions: async (req, res) => {
      const caller = credentialOf(req);
      await sessions.revokeAllAs(caller);
      if (caller.kind === 'session') clearStoredResponses(res);
      res.status(204).end();
    },
  } satisfies Handlers;
}

/** At the end of the caller's session: the browser deletes the responses that it stored for conditional requests (ADR 48). */
function clearStoredResponses(res: Response): void {
  res.set('Clear-Site-Data', '"cache"');
}
