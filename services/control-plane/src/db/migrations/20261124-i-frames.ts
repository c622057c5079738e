import { type Kysely, sql } from 'kysely';

/** A rendition with the I-frames of a video. It runs after the migration of the audio tracks, which defines the other names. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table renditions
    drop constraint renditions_name_check,
    add constraint renditions_name_check check (
      name in ('360p', '480p', '720p', '1080p', 'iframes') or name ~ '^(audio|surround)[2-8]?$'
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`delete from renditions where name = 'iframes'`.execute(db);
  await sql`alter table renditions
    drop constraint renditions_name_check,
    add constraint renditions_name_check
      check (name in ('360p', '480p', '720p', '1080p') or name ~ '^(audio|surround)[2-8]?$')`.execute(db);
}
