import { type Kysely, sql } from 'kysely';

/** Tombstones keep nothing of what their owners wrote or sent. Those of before are blanked, which no way leads back from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos add column purged_at timestamptz(3)`.execute(db);
  for (const table of ['renditions', 'attempts', 'upload_tickets']) {
    await sql`
      delete from ${sql.table(table)}
      where video_id in (select id from videos where deleted_at is not null)`.execute(db);
  }
  await sql`
    update videos set
      title = '', filename = '', metadata = '{}', tags = '{}', passthrough = null, size = null, sha256 = null,
      content_type = null, source = null, input_issues = '[]', duration = null, width = null, height = null,
      frame_rate = null, variants = null, target_duration = null, poster_bytes = null, storyboard = null,
      storage_bytes = 0, error_message = null
    where deleted_at is not null`.execute(db);
  await sql`create index videos_tombstones on videos (deleted_at) where deleted_at is not null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_tombstones`.execute(db);
  await sql`alter table videos drop column purged_at`.execute(db);
}
