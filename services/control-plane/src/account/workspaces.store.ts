import type { Database } from '../db/database.ts';

/** The workspace made first, if any. */
export async function firstWorkspace(db: Database): Promise<{ id: string } | undefined> {
  return db.selectFrom('workspaces').select('id').orderBy('created_at').orderBy('id').executeTakeFirst();
}

/** Makes a workspace unless it is there. */
export async function ensureWorkspace(db: Database, workspace: { id: string; name: string }): Promise<void> {
  await db
    .insertInto('workspaces')
    .values(workspace)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
