import { sql } from 'kysely';
import { USE_INTERVAL_SECONDS } from '../auth/last-use.ts';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import { compileOnce } from '../db/prepared-statements.ts';
import type { ApiKeyRow, Permission } from '../db/schema.ts';
import type { StoredSecret } from './api-key-secret.ts';

/** A key. The clock of the database decides whether it has expired. */
export type FoundKey = ApiKeyRow & { is_expired: boolean };

/** The key of a request, with the name of its workspace and whether its last use is due to be stored. */
export type UsedKey = FoundKey & { workspace_name: string; is_use_due: boolean };

const isExpired = sql<boolean>`coalesce(api_keys.expires_at <= now(), false)`.as('is_expired');
const isUseDue = sql<boolean>`coalesce(
  api_keys.last_used_at <= now() - make_interval(secs => ${sql.lit(USE_INTERVAL_SECONDS)}), true)`;

/** The key with this hash, even if it is revoked or expired. */
export async function findKeyByHash(db: Database, hash: Buffer): Promise<UsedKey | undefined> {
  const [key] = await keysByHash(db, hash);
  return key;
}

const keysByHash = compileOnce((db, hash: Buffer) =>
  db
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .selectAll('api_keys')
    .select(['workspaces.name as workspace_name', isExpired, isUseDue.as('is_use_due')])
    .where('secret_hash', '=', hash),
);

/** Stores a key. Resolves with undefined when a key has this secret already. */
export async function insertKey(
  db: Database,
  key: StoredSecret & {
    id: string;
    workspaceId: string;
    name: string;
    permissions: readonly Permission[];
    createdBy: string | null;
    expiresAt: Date | null;
  },
): Promise<FoundKey | undefined> {
  return db
    .insertInto('api_keys')
    .values({
      id: key.id,
      workspace_id: key.workspaceId,
      name: key.name,
      secret_hash: key.hash,
      prefix: key.prefix,
      last4: key.last4,
      environment: key.environment,
      permissions: [...key.permissions],
      created_by: key.createdBy,
      expires_at: key.expiresAt,
    })
    .onConflict((conflict) => conflict.column('secret_hash').doNothing())
    .returningAll()
    .returning(isExpired)
    .executeTakeFirst();
}

/** The keys of a workspace, including revoked and expired ones. */
export async function listKeys(db: Database, workspaceId: string, page: PageRequest): Promise<FoundKey[]> {
  const keys = db
    .selectFrom('api_keys')
    .selectAll()
    .select(isExpired)
    .where('workspace_id', '=', workspaceId);
  return keysetPage(keys, 'api_keys', page).execute();
}

/**
 * Locks the row of a workspace until the transaction ends, so that transactions that call this for the same workspace run one after the
 * other. The lock does not block new rows that refer to the workspace, such as videos.
 */
export async function serializeRevocations(db: Database, workspaceId: string): Promise<void> {
  await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/**
 * Revokes a key of the workspace, or of any workspace if `workspaceId` is undefined. Resolves with undefined when there is no such key
 * or it is revoked already.
 */
export async function revokeKey(
  db: Database,
  keyId: string,
  workspaceId?: string,
): Promise<FoundKey | undefined> {
  return db
    .updateTable('api_keys')
    .set({ revoked_at: sql`now()` })
    .where('id', '=', keyId)
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId as string))
    .where('revoked_at', 'is', null)
    .returningAll()
    .returning(isExpired)
    .executeTakeFirst();
}

/**
 * Whether the workspace has a valid key with these permissions that does not expire before `until`. If `until` is null, only a key that
 * never expires counts.
 */
export async function hasKeyWith(
  db: Database,
  workspaceId: string,
  permissions: readonly Permission[],
  until: Date | null,
): Promise<boolean> {
  const expiresNoEarlier = sql<boolean>`coalesce(expires_at, 'infinity') >= coalesce(${until}::timestamptz, 'infinity')`;
  const row = await db
    .selectFrom('api_keys')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .where(expiresNoEarlier)
    .where(sql<boolean>`permissions @> ${[...permissions]}::text[]`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores a use, unless another control plane has stored one within the interval. */
export async function touchKey(db: Database, keyId: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', keyId)
    .where(isUseDue)
    .execute();
}
