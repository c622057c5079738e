import type { ProblemCode } from '@framelane/contracts/problem-codes';
import { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import type { ApiKeyRow, ConsoleSessionRow } from '../db/schema.ts';
import type { Authenticate } from '../http/request-validation.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import type { RequestLimit } from '../rate-limits/request-limit.ts';
import type { SessionCookie } from './session-cookie.ts';

/** What authenticates a request: an API key or a console session. Their permissions mean the same. */
export type Credential = ({ kind: 'key' } & VerifiedKey) | ({ kind: 'session' } & VerifiedSession);

/** A valid key, with the name of its workspace. */
export type VerifiedKey = ApiKeyRow & { workspace_name: string };

/** A session that has not expired, with the name of its workspace. */
export type VerifiedSession = ConsoleSessionRow & { workspace_name: string };

declare global {
  namespace Express {
    interface Request {
      /** The verified credential, on operations that require one. */
      credential?: Credential;
    }
  }
}

/**
 * Authenticates a request. Checks in this order: the API key or the session (401, or 429 after too many invalid ones), its rate
 * limit (429), the workspace header (400 without one for an API key), its workspace (403), the origin of a request with a session (403)
 * and the permissions (403).
 */
export function authentication(
  { keys, sessions }: { keys: Verify<VerifiedKey>; sessions: Verify<VerifiedSession> },
  cookie: SessionCookie,
  limits: { requests: RequestLimit; failures: FailureLimit },
): Authenticate {
  const verify = async (req: Request, acceptsKeys: boolean): Promise<Credential> => {
    const network = clientNetwork(req);
    const token = cookie.tokenOf(req);
    if (token !== undefined) {
      const given = { kind: 'session', secret: token } as const;
      const session = await limits.failures.guard(network, given, () => sessions.verify(token));
      return { kind: 'session', ...session };
    }
    if (!acceptsKeys) {
      throw unauthorized('console_session_missing', 'Sign in to the console with a sign-in link.');
    }
    const secret = /^Bearer +(\S+)$/i.exec(req.get('authorization') ?? '')?.[1];
    if (secret === undefined) {
      throw unauthorized('missing_api_key', 'Send your API key as "Authorization: Bearer <API_KEY>".');
    }
    const given = { kind: 'key', secret } as const;
    return { kind: 'key', ...(await limits.failures.guard(network, given, () => keys.verify(secret))) };
  };

  return async (req, permissions, { acceptsKeys } = { acceptsKeys: true }) => {
    const credential = await verify(req, acceptsKeys);
    limits.requests.count(credential.id, req);
    requireWorkspace(req.get('x-svc-workspace'), credential);
    if (credential.kind === 'session') cookie.requireConsole(req);
    requirePermissions(permissions, credential);
    req.credential = credential;
  };
}

type Verify<T> = { verify(secret: string): Promise<T> };

/** The credential of an authenticated request. */
export function credentialOf(req: Request): Credential {
  if (req.credential === undefined) throw new Error('The operation has no security in the contract');
  return req.credential;
}

function unauthorized(code: ProblemCode, detail: string): Problem {
  return new Problem(code, detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

function requireWorkspace(workspaceId: string | undefined, { kind, workspace_id }: Credential): void {
  if (workspaceId === undefined || workspaceId === '') {
    if (kind === 'session') return;
    throw new Problem('workspace_header_missing', 'Name your workspace in the header X-Svc-Workspace.');
  }
  if (workspaceId !== workspace_id) {
    throw new Problem(
      'workspace_mismatch',
      `This ${NAMES[kind]} does not belong to the workspace in X-Svc-Workspace.`,
    );
  }
}

function requirePermissions(needed: readonly string[], { kind, permissions }: Credential): void {
  const missing = needed.filter((permission) => !permissions.some((held) => held === permission));
  if (missing.length > 0) {
    throw new Problem(
      'insufficient_permissions',
      `This ${NAMES[kind]} lacks the permission ${missing.join(', ')}.`,
    );
  }
}

/** For people. */
const NAMES = { key: 'API key', session: 'session' };
