import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { WorkspaceRow } from '../db/schema.ts';

/** Serializes the transactions that may create the first workspace, until this one ends. */
export async function lockFirstWorkspace(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('first workspace', 0))`.execute(trx);
}

/** The oldest workspace; undefined without any workspace. */
export async function firstWorkspace(db: Database): Promise<{ id: string } | undefined> {
  return db.selectFrom('workspaces').select('id').orderBy('created_at').orderBy('id').executeTakeFirst();
}

/** Creates a workspace unless one with its id exists. */
export async function ensureWorkspace(db: Database, workspace: { id: string; name: string }): Promise<void> {
  await db
    .insertInto('workspaces')
    .values(workspace)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export async function insertWorkspace(
  db: Database,
  workspace: { id: string; name: string },
): Promise<WorkspaceRow> {
  return db.insertInto('workspaces').values(workspace).returningAll().executeTakeFirstOrThrow();
}

/** Every workspace, the oldest first. */
export async function listWorkspaces(db: Database): Promise<WorkspaceRow[]> {
  return db.selectFrom('workspaces').selectAll().orderBy('created_at').orderBy('id').execute();
}
