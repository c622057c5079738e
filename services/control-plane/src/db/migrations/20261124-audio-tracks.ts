import { type Kysely, sql } from 'kysely';

/** Several audio renditions of a video, in stereo and in 5.1. Rows of earlier versions have no label. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table renditions
    add column label text,
    add column role text,
    drop constraint renditions_name_check,
    add constraint renditions_name_check
      check (name in ('360p', '480p', '720p', '1080p') or name ~ '^(audio|surround)[2-8]?$')`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`delete from renditions where name not in ('360p', '480p', '720p', '1080p', 'audio')`.execute(db);
  await sql`alter table renditions
    drop column label,
    drop column role,
    drop constraint renditions_name_check,
    add constraint renditions_name_check check (name in ('360p', '480p', '720p', '1080p', 'audio'))`.execute(
    db,
  );
}
