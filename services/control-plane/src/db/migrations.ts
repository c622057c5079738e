import { sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as foundation from './migrations/20261121-foundation.ts';
import * as videos from './migrations/20261121b-videos.ts';
import * as usage from './migrations/20261121c-usage.ts';
import * as webhooks from './migrations/20261121d-webhooks.ts';
import * as idempotency from './migrations/20261121e-idempotency.ts';
import * as waitingSince from './migrations/20261121f-waiting-since.ts';
import * as jobWorkers from './migrations/20261121g-job-workers.ts';
import * as sourceKey from './migrations/20261121h-source-key.ts';
import * as images from './migrations/20261121i-images.ts';
import * as keyParents from './migrations/20261122a-key-parents.ts';
import * as sealingKeys from './migrations/20261122a-sealing-keys.ts';
import * as tombstones from './migrations/20261122a-tombstones.ts';
import * as uploadsUnderWay from './migrations/20261122b-uploads-under-way.ts';
import * as waitingVideos from './migrations/20261122c-waiting-videos.ts';
import * as webhookClaims from './migrations/20261122c-webhook-claims.ts';

/** Every migration by name, in the order of the names. A landed one is never edited; add the next. */
const MIGRATIONS: Record<string, Migration> = {
  '20261121-foundation': foundation,
  '20261121b-videos': videos,
  '20261121c-usage': usage,
  '20261121d-webhooks': webhooks,
  '20261121e-idempotency': idempotency,
  '20261121f-waiting-since': waitingSince,
  '20261121g-job-workers': jobWorkers,
  '20261121h-source-key': sourceKey,
  '20261121i-images': images,
  '20261122a-key-parents': keyParents,
  '20261122a-sealing-keys': sealingKeys,
  '20261122a-tombstones': tombstones,
  '20261122b-uploads-under-way': uploadsUnderWay,
  '20261122c-waiting-videos': waitingVideos,
  '20261122c-webhook-claims': webhookClaims,
};

const provider: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** Our own among the advisory locks of a database. */
const SCHEMA_LOCK = 5_208_113;

/**
 * Runs `work` while no other process changes the schema in the same way. Kysely takes a lock for each migration, but
 * looks around before, and a look at tables that are just being made or dropped may fail.
 */
export async function changingSchema<T>(db: Database, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${SCHEMA_LOCK})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${SCHEMA_LOCK})`.execute(connection);
    }
  });
}

/** Kysely's migrator over our migrations. */
export function migrator(db: Database): Migrator {
  return new Migrator({ db, provider });
}

/** Brings the database to the newest schema. */
export async function migrateToLatest(db: Database): Promise<void> {
  const { error } = await migrator(db).migrateToLatest();
  if (error !== undefined) throw new Error('The database could not be migrated', { cause: error });
}
