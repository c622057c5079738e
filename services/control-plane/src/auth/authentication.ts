import type { ProblemCode } from '@framelane/contracts/problem-codes';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { ENVIRONMENTS } from '../db/environments.ts';
import type { ApiKeyRow, ConsoleSessionRow, Environment } from '../db/schema.ts';
import type { Authenticate } from '../http/request-validation.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { ConcurrencyLimit } from '../rate-limits/concurrency-limit.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import type { RequestLimit } from '../rate-limits/request-limit.ts';
import type { SessionCookie } from './session-cookie.ts';

/**
 * What authenticates a request: an API key, or a console session in the workspace and environment that the request chose. Their
 * permissions mean the same.
 */
export type Credential = ({ kind: 'key' } & VerifiedKey) | SessionCredential;

/** `workspaces` is the session in each of its workspaces. */
type SessionCredential = { kind: 'session'; workspaces: readonly VerifiedSession[] } & VerifiedSession;

/** A valid key, with the name of its workspace. */
export type VerifiedKey = ApiKeyRow & { workspace_name: string };

/** A session that has not expired, in one of its workspaces, with the workspace's name and the chosen or default environment. */
export type VerifiedSession = ConsoleSessionRow & { workspace_name: string; environment: Environment };

declare global {
  namespace Express {
    interface Request {
      /** The verified credential, on operations that require one. */
      credential?: Credential;
      /** The valid key of the request, even if the request is then refused. */
      verifiedKey?: VerifiedKey;
    }
  }
}

/**
 * Authenticates a request. Checks in this order: how many requests are in progress (429), the API key or the session (401, or 429 after too
 * many invalid ones), its rate limit (429), the workspace header (400 if it is required and missing), its workspace (403), the origin of a request with a session
 * (403), the environment (403, or 400 if it is unknown) and the permissions (403). An operation that accepts only sessions refuses no
 * workspace and no environment: it uses the first one of the session instead.
 */
export function authentication(
  verifiers: { keys: Verify<VerifiedKey>; sessions: Verify<[VerifiedSession, ...VerifiedSession[]]> },
  cookie: SessionCookie,
  limits: { requests: RequestLimit; failures: FailureLimit; concurrency: ConcurrencyLimit },
): Authenticate {
  /** The key, or the session in each of its workspaces. */
  const verify = async (req: Request, acceptsKeys: boolean): Promise<[Credential, ...Credential[]]> => {
    const network = clientNetwork(req);
    const token = cookie.tokenOf(req);
    if (token !== undefined) {
      const given = { kind: 'session', secret: token } as const;
      const workspaces = await limits.failures.guard(network, given, () => verifiers.sessions.verify(token));
      const [first, ...others] = workspaces;
      const credentialIn = (session: VerifiedSession) =>
        ({ kind: 'session', workspaces, ...session }) as const;
      return [credentialIn(first), ...others.map(credentialIn)];
    }
    if (!acceptsKeys) {
      throw unauthorized('console_session_missing', 'Sign in to the console with a sign-in link.');
    }
    const secret = /^Bearer +(\S+)$/i.exec(req.get('authorization') ?? '')?.[1];
    if (secret === undefined) {
      throw unauthorized('missing_api_key', 'Send your API key as "Authorization: Bearer <API_KEY>".');
    }
    const given = { kind: 'key', secret } as const;
    return [
      { kind: 'key', ...(await limits.failures.guard(network, given, () => verifiers.keys.verify(secret))) },
    ];
  };

  return async (req, permissions, { acceptsKeys = true, workspaceId } = {}) => {
    const countFor = limits.concurrency.enter(req, cookie.tokenOf(req) ?? req.get('authorization') ?? '');
    const credentials = await verify(req, acceptsKeys);
    if (credentials[0].kind === 'key') req.verifiedKey = credentials[0];
    limits.requests.count(credentials[0].id, req);
    const chosen = acceptsKeys
      ? chooseWorkspace(credentials, req.get('x-svc-workspace'), { fallback: workspaceId })
      : chooseAny(credentials, req.get('x-svc-workspace'));
    countFor(chosen.workspace_id);
    if (chosen.kind === 'session') cookie.requireConsole(req);
    const credential = chooseEnvironment(chosen, req.get('x-framelane-environment') || undefined, {
      mayDiffer: !acceptsKeys,
    });
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

/**
 * The credential for the workspace in the header. A session needs no header if it has one workspace, or if the URL names one
 * (`fallback`).
 */
function chooseWorkspace(
  credentials: [Credential, ...Credential[]],
  header: string | undefined,
  { fallback }: { fallback: string | undefined },
): Credential {
  const [first, ...others] = credentials;
  const isSession = first.kind === 'session';
  const workspaceId = header || (isSession ? fallback : undefined);
  if (workspaceId === undefined) {
    if (isSession && others.length === 0) return first;
    throw new Problem(
      'workspace_header_missing',
      'Send the id of your workspace in the header X-Svc-Workspace.',
    );
  }
  const chosen = credentials.find(({ workspace_id }) => workspace_id === workspaceId);
  if (chosen !== undefined) return chosen;
  throw new Problem(
    'workspace_mismatch',
    `This ${NAMES[first.kind]} does not belong to the workspace ${header ? 'in X-Svc-Workspace' : 'in the URL'}.`,
  );
}

/**
 * The credential for the workspace in the header, or else the first one. It is for operations that act on a whole session: a person
 * can sign out even if the session has lost access to the workspace that the page shows.
 */
function chooseAny(credentials: [Credential, ...Credential[]], header: string | undefined): Credential {
  return credentials.find(({ workspace_id }) => workspace_id === header) ?? credentials[0];
}

/**
 * The credential for the environment in the header. A key has one environment; for a session, the first is the default. With
 * `mayDiffer`, the default also replaces an environment that the credential does not have.
 */
function chooseEnvironment(
  credential: Credential,
  header: string | undefined,
  { mayDiffer }: { mayDiffer: boolean },
): Credential {
  const environments = credential.kind === 'key' ? [credential.environment] : credential.environments;
  const wanted = environments.find((each) => header === undefined || each === header);
  const environment = wanted ?? (mayDiffer ? environments[0] : undefined);
  if (environment !== undefined) return { ...credential, environment };
  if (!ENVIRONMENTS.some((each) => each === header)) {
    throw invalidField(
      'headers/x-framelane-environment',
      'enum',
      `must be one of ${ENVIRONMENTS.join(', ')}`,
    );
  }
  throw new Problem(
    'environment_mismatch',
    `This ${NAMES[credential.kind]} is not for the environment in X-Framelane-Environment.`,
  );
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

/** Names for messages. */
const NAMES = { key: 'API key', session: 'session' };
