import { sql } from 'kysely';
import { USE_INTERVAL_SECONDS } from '../auth/last-use.ts';
import { SESSION_DAYS } from '../auth/session-cookie.ts';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type { ConsoleCodeRow, ConsoleSessionRow, Environment, Permission, RightsRow } from '../db/schema.ts';

const CODE_MINUTES = 10;
const IDLE_HOURS = 8;

/**
 * The session of a request in one workspace, with the name of the workspace, the environment for requests that choose none, and whether its
 * last use is due to be stored.
 */
export type UsedSession = ConsoleSessionRow & {
  workspace_name: string;
  environment: Environment;
  is_use_due: boolean;
};

/** What a code grants in one workspace. */
export type Grant = Pick<ConsoleCodeRow, 'name' | 'administrator'> & {
  workspaceId: string;
  environments: readonly Environment[];
  permissions: readonly Permission[];
};

/** What a new session has in common in all its workspaces. `email` is null after a link. */
type NewSession = { tokenHash: Buffer; userAgent: string | null; email: string | null };

const isUnexpired = sql<boolean>`idle_expires_at > now()`;
const isUseDue = sql<boolean>`last_seen_at <= now() - make_interval(secs => ${sql.lit(USE_INTERVAL_SECONDS)})`;
const expiry = sql<Date>`now() + make_interval(days => ${sql.lit(SESSION_DAYS)})`;
const idleExpiry = sql<Date>`least(now() + make_interval(hours => ${sql.lit(IDLE_HOURS)}), expires_at)`;

/** Stores a code with its grants. Resolves with the time at which it expires. */
export async function insertCode(db: Database, codeHash: Buffer, grants: readonly Grant[]): Promise<Date> {
  const { expires_at } = await db
    .insertInto('console_codes')
    .values(
      grants.map((grant) => ({
        ...toColumns(grant),
        code_hash: codeHash,
        expires_at: sql<Date>`now() + make_interval(mins => ${sql.lit(CODE_MINUTES)})`,
      })),
    )
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Uses a code that has not expired, and resolves with its grants. Of concurrent calls, only one gets them; the others get none. */
export async function takeCode(db: Database, codeHash: Buffer): Promise<Grant[]> {
  return db
    .updateTable('console_codes')
    .set({ used_at: sql<Date>`now()` })
    .where('code_hash', '=', codeHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['workspace_id as workspaceId', 'name', 'environments', 'permissions', 'administrator'])
    .execute();
}

/** Stores a session: a row for each grant, with its own id. */
export async function insertSession(
  db: Database,
  { tokenHash, userAgent, email }: NewSession,
  grants: readonly (Grant & { id: string })[],
): Promise<void> {
  await db
    .insertInto('console_sessions')
    .values(
      grants.map((grant) => ({
        ...toColumns(grant),
        id: grant.id,
        token_hash: tokenHash,
        user_agent: userAgent,
        person_email: email,
        expires_at: expiry,
        idle_expires_at: sql<Date>`now() + make_interval(hours => ${sql.lit(IDLE_HOURS)})`,
      })),
    )
    .execute();
}

function toColumns({ workspaceId, name, environments, permissions, administrator }: Grant) {
  return {
    workspace_id: workspaceId,
    name,
    environments: [...environments],
    permissions: [...permissions],
    administrator,
  };
}

/** The session with this hash in each of its workspaces, the oldest workspace first; none if it has ended. */
export const findSession = compileOnce((db, tokenHash: Buffer) =>
  db
    .selectFrom('console_sessions')
    .innerJoin('workspaces', 'workspaces.id', 'console_sessions.workspace_id')
    .selectAll('console_sessions')
    .select([
      'workspaces.name as workspace_name',
      sql<Environment>`environments[1]`.as('environment'),
      isUseDue.as('is_use_due'),
    ])
    .where('token_hash', '=', tokenHash)
    .where(isUnexpired)
    .orderBy('workspace_id'),
);

/**
 * Stores a use, which moves the idle expiry in all workspaces. `id` is the id of any row of the session. Does nothing if another control
 * plane has stored one within the interval.
 */
export async function touchSession(db: Database, id: string): Promise<void> {
  await db
    .updateTable('console_sessions')
    .set({ last_seen_at: sql`now()`, idle_expires_at: idleExpiry })
    .where('token_hash', '=', (query) =>
      query.selectFrom('console_sessions').select('token_hash').where('id', '=', id),
    )
    .where(isUnexpired)
    .where(isUseDue)
    .execute();
}

/** The sessions of a workspace that have not expired. */
export async function listSessions(
  db: Database,
  workspaceId: string,
  page: PageRequest,
): Promise<ConsoleSessionRow[]> {
  const sessions = db
    .selectFrom('console_sessions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(isUnexpired);
  return keysetPage(sessions, 'console_sessions', page).execute();
}

/** Deletes the sessions of a workspace, or the one with this id. Resolves with those that had not expired. */
export async function deleteSessions(db: Database, workspaceId: string, id?: string): Promise<RightsRow[]> {
  const deleted = await db
    .deleteFrom('console_sessions')
    .where('workspace_id', '=', workspaceId)
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .returning([
      'workspace_id',
      'environments',
      'permissions',
      'administrator',
      isUnexpired.as('had_not_expired'),
    ])
    .execute();
  return deleted.filter(({ had_not_expired }) => had_not_expired);
}

/** Deletes the unused codes of a workspace. Resolves with those that had not expired. */
export async function deleteCodes(db: Database, workspaceId: string): Promise<RightsRow[]> {
  const deleted = await db
    .deleteFrom('console_codes')
    .where('workspace_id', '=', workspaceId)
    .where('used_at', 'is', null)
    .returning(['workspace_id', 'environments', 'permissions', 'administrator'])
    .returning(sql<boolean>`expires_at > now()`.as('had_not_expired'))
    .execute();
  return deleted.filter(({ had_not_expired }) => had_not_expired);
}

/** Deletes sessions that have expired, and codes that have expired a day ago. */
export async function deleteExpired(db: Database): Promise<void> {
  await db
    .deleteFrom('console_codes')
    .where('expires_at', '<=', sql<Date>`now() - interval '1 day'`)
    .execute();
  await db.deleteFrom('console_sessions').where('idle_expires_at', '<=', sql<Date>`now()`).execute();
}
