import { newId } from '@framelane/contracts/ids';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { Credential, VerifiedSession } from '../auth/authentication.ts';
import { LastUse } from '../auth/last-use.ts';
import { RequestCoalescing } from '../auth/request-coalescing.ts';
import { requireToEnd, rightsOf, type WorkspaceGrant } from '../auth/rights.ts';
import { hashToken, randomBase62 } from '../auth/secret-tokens.ts';
import type { Database } from '../db/database.ts';
import { type Page, type PageRequest, toPage } from '../db/keyset-page.ts';
import { type SessionRecord, toSessionRecord } from './console-session-record.ts';
import {
  deleteCodes,
  deleteExpired,
  deleteSessions,
  findSession,
  type Grant,
  insertCode,
  insertSession,
  listSessions,
  takeCode,
  touchSession,
  type UsedSession,
} from './console-sessions.store.ts';
import { recordSignIns, refuseCode, signOut } from './session-events.store.ts';

/** 43 base62 characters carry 256 bits. The log redacts secrets with this prefix. */
const newSecret = (kind: 'code' | 'session') => `console_${kind}_${randomBase62(43)}`;

/** Longest `User-Agent` that is stored. */
const USER_AGENT_LENGTH = 300;

/** What a person may do in a workspace, and whether they may see the whole installation. */
export type PersonGrant = WorkspaceGrant & { administrator: boolean };

/** The grants of a sign-in link: one or more, for different workspaces. */
export type LinkRequest = {
  name: string;
  /** Whether the person may see the whole installation. */
  administrator: boolean;
  grants: readonly WorkspaceGrant[];
};

/** The request of a sign-in. */
export type SignInRequest = { userAgent: string | undefined; requestId: string };

/** A sign-in link, which is never shown again. It can be used once, until it expires. */
export type ConsoleLink = { url: string; expiresAt: Date };

/** Creates sign-in codes, exchanges them for sessions, and verifies, lists and ends sessions (ADR 43). */
export class ConsoleSessionsService {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #publicUrl: string;
  readonly #lastUse: LastUse;
  readonly #queries = new RequestCoalescing<UsedSession[]>();

  /** `publicUrl` is the root of the public address. */
  constructor({ db, logger, publicUrl }: { db: Database; logger: Logger; publicUrl: string }) {
    this.#db = db;
    this.#publicUrl = publicUrl;
    this.#logger = logger;
    this.#lastUse = new LastUse((id) => touchSession(db, id), logger);
  }

  /** Creates a link for one sign-in within 10 minutes. Its code is in the fragment, which browsers do not send. */
  async createLink({ name, administrator, grants }: LinkRequest): Promise<ConsoleLink> {
    const code = newSecret('code');
    const named = grants.map((grant) => ({ ...grant, name, administrator }));
    const expiresAt = await insertCode(this.#db, hashToken(code), named);
    this.#logger.info('console_link.created', { grants, administrator, expiresAt });
    return { url: `${this.#publicUrl}/console/#code=${code}`, expiresAt };
  }

  /** Exchanges a code for a session. Resolves with its token. Throws 401 `console_code_invalid`. */
  async signIn(code: string, request: SignInRequest): Promise<string> {
    const hash = hashToken(code);
    const token = await this.#createSession(request, (trx) => takeCode(trx, hash), null);
    if (token !== undefined) return token;
    await refuseCode(this.#db, hash, request.requestId);
    throw unauthorized(
      'console_code_invalid',
      'This sign-in link is unknown, was used before or has expired. Create a new one.',
    );
  }

  /**
   * Creates a session for a person who signed in at the OpenID provider. `grantsIn` reads the grants of the person in the transaction that
   * creates the session. Resolves with the token of the session; undefined without grants.
   */
  async signInPerson(
    { email, name }: { email: string; name: string },
    grantsIn: (trx: Database) => Promise<PersonGrant[]>,
    request: SignInRequest,
  ): Promise<string | undefined> {
    const grants = async (trx: Database): Promise<Grant[]> =>
      (await grantsIn(trx)).map((grant) => ({ ...grant, name }));
    return this.#createSession(request, grants, email);
  }

  /** Creates a session with these grants, in one transaction. Resolves with its token; undefined without grants. */
  async #createSession(
    { userAgent, requestId }: SignInRequest,
    grantsIn: (trx: Database) => Promise<Grant[]>,
    email: string | null,
  ): Promise<string | undefined> {
    const token = newSecret('session');
    const session = {
      tokenHash: hashToken(token),
      userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
      email,
    };
    const sessions = await this.#db.transaction().execute(async (trx) => {
      const grants = (await grantsIn(trx)).map((grant) => ({ ...grant, id: newId('ses') }));
      if (grants.length === 0) return grants;
      await insertSession(trx, session, grants);
      await recordSignIns(trx, session.tokenHash, requestId);
      return grants;
    });
    if (sessions.length === 0) return undefined;
    const workspaces = sessions.map(({ id, workspaceId }) => ({ sessionId: id, workspaceId }));
    this.#logger.info('console_session.created', { workspaces, email });
    return token;
  }

  /**
   * Resolves with the session of a token in each of its workspaces, or throws 401 `console_session_invalid`. Each result comes from a
   * query that began after the call, so the end of a session is effective at once on every instance.
   */
  async verify(token: string): Promise<[VerifiedSession, ...VerifiedSession[]]> {
    const hash = hashToken(token);
    const [session, ...others] = await this.#queries.get(hash.toString('base64'), () =>
      findSession(this.#db, hash),
    );
    if (session === undefined) {
      throw unauthorized(
        'console_session_invalid',
        'This session is unknown, has expired or was signed out. Sign in again.',
      );
    }
    this.#lastUse.record(session);
    return [session, ...others];
  }

  /** One page of the workspace's sessions that have not expired, newest first. */
  async list(workspaceId: string, page: PageRequest): Promise<Page<SessionRecord>> {
    const rows = await listSessions(this.#db, workspaceId, page);
    return toPage(rows, page.limit, toSessionRecord);
  }

  /**
   * Ends a session in the caller's workspace. Throws 404 `console_session_not_found`, and 403 `insufficient_permissions` when the session
   * has rights that the caller lacks.
   */
  async revokeAs(caller: Credential, sessionId: string): Promise<void> {
    const workspaceId = caller.workspace_id;
    await this.#db.transaction().execute(async (trx) => {
      const ended = await deleteSessions(trx, workspaceId, sessionId);
      if (ended.length === 0) {
        throw new Problem('console_session_not_found', `There is no session ${sessionId} in this workspace.`);
      }
      requireToEnd(caller, ended.map(rightsOf), 'end only sessions');
    });
    this.#logger.info('console_session.revoked', { sessionId, workspaceId, revokedBy: caller.id });
  }

  /** Ends the session of a token in all its workspaces. */
  async signOut(token: string, requestId: string): Promise<void> {
    await signOut(this.#db, hashToken(token), requestId);
    this.#logger.info('console_session.signed_out');
  }

  /**
   * Ends all sessions in the caller's workspace, and removes the workspace from unused links. Throws 403 `insufficient_permissions`, and
   * ends none, when one of them has rights that the caller lacks.
   */
  async revokeAllAs(caller: Credential): Promise<void> {
    const workspaceId = caller.workspace_id;
    const sessions = await this.#db.transaction().execute(async (trx) => {
      const codes = await deleteCodes(trx, workspaceId);
      const ended = await deleteSessions(trx, workspaceId);
      requireToEnd(caller, [...codes, ...ended].map(rightsOf), 'end only sessions and links');
      return ended.length;
    });
    this.#logger.info('console_session.all_revoked', { workspaceId, sessions, revokedBy: caller.id });
  }

  /** Deletes expired codes and sessions. */
  prune(): Promise<void> {
    return deleteExpired(this.#db);
  }
}

function unauthorized(code: 'console_code_invalid' | 'console_session_invalid', detail: string): Problem {
  return new Problem(code, detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
