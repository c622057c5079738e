import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type { ConsoleCodeRow, ConsoleSessionRow } from '../db/schema.ts';

const CODE_MINUTES = 10;
const IDLE_HOURS = 8;
const LIFETIME_DAYS = 7;

/** `last_seen_at` is stored at most this often. */
const USE_INTERVAL_SECONDS = 60;

/** The session of a request, with the name of its workspace and whether its last use is due to be stored. */
export type UsedSession = ConsoleSessionRow & { workspace_name: string; is_use_due: boolean };

/** What a code grants. */
export type Grant = Omit<ConsoleCodeRow, 'code_hash' | 'expires_at'>;

const isLive = sql<boolean>`idle_expires_at > now()`;
const isUseDue = sql<boolean>`last_seen_at <= now() - make_interval(secs => ${sql.lit(USE_INTERVAL_SECONDS)})`;
const expiry = sql<Date>`now() + make_interval(days => ${sql.lit(LIFETIME_DAYS)})`;
const idleExpiry = sql<Date>`least(now() + make_interval(hours => ${sql.lit(IDLE_HOURS)}), expires_at)`;

/** Stores a code. Resolves with the time at which it expires. */
export async function insertCode(db: Database, codeHash: Buffer, grant: Grant): Promise<Date> {
  const { expires_at } = await db
    .insertInto('console_codes')
    .values({
      ...grant,
      code_hash: codeHash,
      expires_at: sql`now() + make_interval(mins => ${sql.lit(CODE_MINUTES)})`,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Deletes a code. Resolves with its grant if it has not expired. Of concurrent calls, only one gets it. */
export async function takeCode(db: Database, codeHash: Buffer): Promise<Grant | undefined> {
  return db
    .deleteFrom('console_codes')
    .where('code_hash', '=', codeHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['workspace_id', 'name', 'environment', 'permissions'])
    .executeTakeFirst();
}

export async function insertSession(
  db: Database,
  session: Grant & { id: string; token_hash: Buffer; user_agent: string | null },
): Promise<void> {
  await db
    .insertInto('console_sessions')
    .values({
      ...session,
      expires_at: expiry,
      idle_expires_at: sql`now() + make_interval(hours => ${sql.lit(IDLE_HOURS)})`,
    })
    .execute();
}

/** The session with this hash; undefined if there is none or it has expired. */
export async function findSession(db: Database, tokenHash: Buffer): Promise<UsedSession | undefined> {
  const [session] = await sessionsByHash(db, tokenHash);
  return session;
}

const sessionsByHash = compileOnce((db, tokenHash: Buffer) =>
  db
    .selectFrom('console_sessions')
    .innerJoin('workspaces', 'workspaces.id', 'console_sessions.workspace_id')
    .selectAll('console_sessions')
    .select(['workspaces.name as workspace_name', isUseDue.as('is_use_due')])
    .where('token_hash', '=', tokenHash)
    .where(isLive),
);

/** Stores a use, which moves the idle expiry. Does nothing if another control plane has stored one within the interval. */
export async function touchSession(db: Database, id: string): Promise<void> {
  await db
    .updateTable('console_sessions')
    .set({ last_seen_at: sql`now()`, idle_expires_at: idleExpiry })
    .where('id', '=', id)
    .where(isLive)
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
    .where(isLive);
  return keysetPage(sessions, 'console_sessions', page).execute();
}

/** Deletes the sessions of a workspace, or the one with this id. Resolves with the number of those that had not expired. */
export async function deleteSessions(db: Database, workspaceId: string, id?: string): Promise<number> {
  const deleted = await db
    .deleteFrom('console_sessions')
    .where('workspace_id', '=', workspaceId)
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .returning(isLive.as('was_live'))
    .execute();
  return deleted.filter(({ was_live }) => was_live).length;
}

/** Deletes the codes of a workspace. */
export async function deleteCodes(db: Database, workspaceId: string): Promise<void> {
  await db.deleteFrom('console_codes').where('workspace_id', '=', workspaceId).execute();
}

/** Deletes expired codes and sessions. Resolves with their number. */
export async function deleteExpired(db: Database): Promise<number> {
  const codes = await db
    .deleteFrom('console_codes')
    .where('expires_at', '<=', sql<Date>`now()`)
    .executeTakeFirst();
  const sessions = await db
    .deleteFrom('console_sessions')
    .where('idle_expires_at', '<=', sql<Date>`now()`)
    .executeTakeFirst();
  return Number(codes.numDeletedRows + sessions.numDeletedRows);
}
