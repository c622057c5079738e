import { isDeepStrictEqual } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as initial from './migrations/20261122-initial.ts';
import * as imports from './migrations/20261123-imports.ts';
import * as quotas from './migrations/20261123-quotas.ts';
import * as resumableUploads from './migrations/20261123-resumable-uploads.ts';
import * as sources from './migrations/20261123-sources.ts';
import * as audioTracks from './migrations/20261124-audio-tracks.ts';
import * as captions from './migrations/20261124-captions.ts';
import * as consoleSessions from './migrations/20261124-console-sessions.ts';
import * as embed from './migrations/20261124-embed.ts';
import * as iFrames from './migrations/20261124-i-frames.ts';
import * as playbackVersion from './migrations/20261124-playback-version.ts';
import * as administrators from './migrations/20261125-administrators.ts';
import * as sessionWorkspaces from './migrations/20261125-session-workspaces.ts';
import * as system from './migrations/20261125-system.ts';
import * as tags from './migrations/20261125-tags.ts';
import * as usageStorage from './migrations/20261125-usage-storage.ts';
import * as webhookResponses from './migrations/20261125-webhook-responses.ts';
import * as consolePeople from './migrations/20261126-console-people.ts';
import * as tasks from './migrations/20261126-tasks.ts';
import * as webhookDeliveryStatus from './migrations/20261126-webhook-delivery-status.ts';
import * as webhookRequests from './migrations/20261126-webhook-requests.ts';
import * as retries from './migrations/20261127-retries.ts';
import * as posters from './migrations/20261128-posters.ts';
import * as engineTasks from './migrations/20261129-engine-tasks.ts';
import * as attemptsClaims from './migrations/20261130-attempts-claims.ts';
import * as importsClaims from './migrations/20261130-imports-claims.ts';
import * as resumableUploadsClaims from './migrations/20261130-resumable-uploads-claims.ts';
import * as tasksClaims from './migrations/20261130-tasks-claims.ts';
import * as uploadTicketsClaims from './migrations/20261130-upload-tickets-claims.ts';
import * as videosTurns from './migrations/20261130-videos-turns.ts';

/** All migrations by name. They run in the order of their names. Never edit a released one; CONTRIBUTING.md says how to add one. */
const MIGRATIONS: Record<string, Migration> = {
  '20261122-initial': initial,
  '20261123-imports': imports,
  '20261123-quotas': quotas,
  '20261123-resumable-uploads': resumableUploads,
  '20261123-sources': sources,
  '20261124-audio-tracks': audioTracks,
  '20261124-captions': captions,
  '20261124-console-sessions': consoleSessions,
  '20261124-embed': embed,
  '20261124-i-frames': iFrames,
  '20261124-playback-version': playbackVersion,
  '20261125-administrators': administrators,
  '20261125-session-workspaces': sessionWorkspaces,
  '20261125-system': system,
  '20261125-tags': tags,
  '20261125-usage-storage': usageStorage,
  '20261125-webhook-responses': webhookResponses,
  '20261126-console-people': consolePeople,
  '20261126-tasks': tasks,
  '20261126-webhook-delivery-status': webhookDeliveryStatus,
  '20261126-webhook-requests': webhookRequests,
  '20261127-retries': retries,
  '20261128-posters': posters,
  '20261129-engine-tasks': engineTasks,
  '20261130-attempts-claims': attemptsClaims,
  '20261130-imports-claims': importsClaims,
  '20261130-resumable-uploads-claims': resumableUploadsClaims,
  '20261130-tasks-claims': tasksClaims,
  '20261130-upload-tickets-claims': uploadTicketsClaims,
  '20261130-videos-turns': videosTurns,
};

/** Databases of versions before the first release have this migration. */
const UNRELEASED_MIGRATION = '20261121-foundation';

const provider: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** The id of our advisory lock. */
const SCHEMA_LOCK = 5_208_113;

/**
 * Runs `work` under an advisory lock, so that one process at a time changes the schema. Kysely locks migrations too, but it reads
 * the system catalogue before it takes the lock, and that fails if another process creates or drops tables meanwhile.
 */
async function withSchemaLock<T>(db: Database, work: () => Promise<T>): Promise<T> {
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

/**
 * Migrates the database to the latest schema. Each migration of a database in use has its own transaction, so that none locks a table
 * longer than it needs to. One that locks a single table cannot deadlock with services that run. Concurrent processes take turns. Throws a SettingsError when an unreleased version created the database, or a
 * newer one migrated it.
 */
export function migrateToLatest(db: Database): Promise<void> {
  return withSchemaLock(db, async () => {
    const applied = await appliedMigrations(db);
    if (applied.includes(UNRELEASED_MIGRATION)) {
      throw new SettingsError(
        'The database belongs to an unreleased version of Framelane and cannot be migrated. Use an empty database; on a single node, move DATA_DIR away.',
      );
    }
    const unknown = applied.filter((name) => !Object.hasOwn(MIGRATIONS, name));
    if (unknown.length > 0) {
      throw new SettingsError(
        `The database belongs to a newer version of Framelane: it has the unknown migrations ${unknown.join(', ')}. Start that version or a later one.`,
      );
    }
    // Before each step Kysely reads the whole system catalogue, which takes longer than most migrations.
    if (isDeepStrictEqual(applied, Object.keys(MIGRATIONS).sort())) return;
    const migrations = migrator(db);
    if (applied.length === 0) await countApplied(migrations.migrateToLatest());
    else while ((await countApplied(migrations.migrateUp())) > 0);
  });
}

/** The number of migrations that a step of Kysely has applied. Throws if one failed. */
async function countApplied(step: Promise<MigrationResultSet>): Promise<number> {
  const { results = [], error } = await step;
  if (error !== undefined) throw new Error('The database could not be migrated', { cause: error });
  return results.length;
}

/** The names of the migrations that the database has, sorted. */
async function appliedMigrations(db: Database): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).sort();
}
