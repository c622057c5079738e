import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { IdempotencyKeyRow } from '../db/schema.ts';

/** The response to a request: JSON, or problem+json from status 400. */
export type StoredResponse = { status: number; location?: string; body: Readonly<Record<string, unknown>> };

/** A key in its workspace, with the hash of the environment and the request body. */
export type KeyUse = { workspaceId: string; keyHash: Buffer; payloadHash: Buffer };

/** A key that one request has leased. The end of the lease is its fencing token. */
export type Claim = KeyUse & { leasedUntil: Date };

/**
 * Leases a key that was not used in the last `keptHours`, or whose lease has expired. Resolves with undefined while the key is
 * leased or has a response. A single statement, so that one of several concurrent requests gets the key.
 */
export async function claimKey(
  db: Database,
  use: KeyUse,
  { leaseSeconds, keptHours }: { leaseSeconds: number; keptHours: number },
): Promise<Claim | undefined> {
  const fresh = {
    payload_hash: use.payloadHash,
    leased_until: sql<Date>`now() + make_interval(secs => ${leaseSeconds})`,
    created_at: sql<Date>`now()`,
  };
  const row = await db
    .insertInto('idempotency_keys')
    .values({ workspace_id: use.workspaceId, key_hash: use.keyHash, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'key_hash'])
        .doUpdateSet({ ...fresh, status: null, location: null, body: null })
        .where(({ eb, or }) =>
          or([
            eb('idempotency_keys.leased_until', '<=', sql<Date>`now()`),
            eb('idempotency_keys.created_at', '<=', hoursAgo(keptHours)),
          ]),
        ),
    )
    .returning('leased_until')
    .executeTakeFirst();
  return row?.leased_until ? { ...use, leasedUntil: row.leased_until } : undefined;
}

export async function findKey(db: Database, use: KeyUse): Promise<IdempotencyKeyRow | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('workspace_id', '=', use.workspaceId)
    .where('key_hash', '=', use.keyHash)
    .executeTakeFirst();
}

/** Stores the response. Resolves with false when the lease expired and another request took the key. */
export async function storeResponse(db: Database, claim: Claim, response: StoredResponse): Promise<boolean> {
  const result = await db
    .updateTable('idempotency_keys')
    .set({
      leased_until: null,
      status: response.status,
      location: response.location ?? null,
      body: JSON.stringify(response.body),
    })
    .where('workspace_id', '=', claim.workspaceId)
    .where('key_hash', '=', claim.keyHash)
    .where('leased_until', '=', claim.leasedUntil)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes the key of a failed request, unless it has a response or another request leases it. */
export async function releaseKey(db: Database, claim: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', claim.workspaceId)
    .where('key_hash', '=', claim.keyHash)
    .where('leased_until', '=', claim.leasedUntil)
    .execute();
}

/** Deletes up to `limit` keys first used at least `keptHours` ago. Resolves with their number. */
export async function deleteOldKeys(db: Database, keptHours: number, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('idempotency_keys')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('workspace_id', 'key_hash'),
        'in',
        selectFrom('idempotency_keys as old')
          .select(['old.workspace_id', 'old.key_hash'])
          .where('old.created_at', '<=', hoursAgo(keptHours))
          .limit(limit)
          .$asTuple('workspace_id', 'key_hash'),
      ),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

function hoursAgo(hours: number) {
  return sql<Date>`now() - make_interval(hours => ${hours})`;
}
