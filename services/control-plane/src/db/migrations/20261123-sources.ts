import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos
    add column keep_source_days int,
    add column failed_at timestamptz(3),
    add column delete_source_at timestamptz(3),
    add column source_deleted_at timestamptz(3)`.execute(db);
  // Earlier versions did not store when a video failed.
  await sql`update videos set failed_at = updated_at where status = 'failed'`.execute(db);
  await sql`create index videos_with_source_to_delete on videos (delete_source_at)
    where delete_source_at is not null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_with_source_to_delete`.execute(db);
  await sql`alter table videos
    drop column keep_source_days,
    drop column failed_at,
    drop column delete_source_at,
    drop column source_deleted_at`.execute(db);
}
