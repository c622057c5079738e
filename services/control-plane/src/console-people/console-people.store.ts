import type { WorkspaceGrant } from '../auth/rights.ts';
import type { Database } from '../db/database.ts';
import type { ConsolePersonRow } from '../db/schema.ts';

/** Replaces the grants of a person in these workspaces. `administrator` applies in all workspaces. Deletes the person's sessions. */
export async function replaceGrants(
  db: Database,
  { email, administrator }: Pick<ConsolePersonRow, 'email' | 'administrator'>,
  grants: readonly WorkspaceGrant[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Locks the rows: a sign-in that has read them commits first, and its session is deleted with the others.
    await trx.updateTable('console_people').set({ administrator }).where('email', '=', email).execute();
    await trx
      .insertInto('console_people')
      .values(
        grants.map(({ workspaceId, environments, permissions }) => ({
          email,
          workspace_id: workspaceId,
          environments: [...environments],
          permissions: [...permissions],
          administrator,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['email', 'workspace_id']).doUpdateSet(({ ref }) => ({
          environments: ref('excluded.environments'),
          permissions: ref('excluded.permissions'),
        })),
      )
      .execute();
    await trx.deleteFrom('console_sessions').where('person_email', '=', email).execute();
  });
}

/** The grants of a person, one for each of their workspaces. They cannot change until the transaction ends. */
export async function grantsOf(db: Database, email: string): Promise<ConsolePersonRow[]> {
  return db.selectFrom('console_people').selectAll().where('email', '=', email).forShare().execute();
}

/** All people with their grants in each workspace. */
export async function listGrants(db: Database): Promise<ConsolePersonRow[]> {
  return db.selectFrom('console_people').selectAll().orderBy('email').orderBy('workspace_id').execute();
}

/**
 * Deletes the grants of a person, in all workspaces or in the given ones, and the sessions there. Resolves with the workspaces.
 */
export async function deleteGrants(
  db: Database,
  email: string,
  workspaceIds: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await db
    .deleteFrom('console_people')
    .where('email', '=', email)
    .$if(workspaceIds !== undefined, (query) => query.where('workspace_id', 'in', workspaceIds ?? []))
    .returning('workspace_id')
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
}
