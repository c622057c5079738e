import { type Kysely, sql } from 'kysely';

/** With the workspace in the index, a search reads none of the videos that other workspaces gave the same tag. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists btree_gin`.execute(db);
  await sql`create index videos_by_tag on videos using gin (workspace_id, tags) where deleted_at is null`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_tag`.execute(db);
  await sql`drop extension btree_gin`.execute(db);
}
