import { type Kysely, sql } from 'kysely';

/** The index contains the workspace, so a search does not read videos of other workspaces with the same tag. */
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
