import type { Database } from '../db/database.ts';
import type { ApiKeyRow } from '../db/schema.ts';

/** The key with this hash and the name of its workspace, whatever its state. */
export async function findKeyByHash(
  db: Database,
  hash: Buffer,
): Promise<(ApiKeyRow & { workspace_name: string }) | undefined> {
  return db
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .selectAll('api_keys')
    .select('workspaces.name as workspace_name')
    .where('secret_hash', '=', hash)
    .executeTakeFirst();
}

/** Stores a key unless its secret is known already. Resolves with whether it was stored. */
export async function insertKey(
  db: Database,
  key: Omit<ApiKeyRow, 'created_at' | 'expires_at' | 'revoked_at' | 'last_used_at'>,
): Promise<boolean> {
  const row = await db
    .insertInto('api_keys')
    .values(key)
    .onConflict((conflict) => conflict.column('secret_hash').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
