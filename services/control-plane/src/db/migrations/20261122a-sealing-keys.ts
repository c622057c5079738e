import { type Kysely, sql } from 'kysely';

/** The header of a sealed value names the secret that sealed it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index videos_by_sealing_key on videos ((split_part(content_key, '.', 1) collate "C"), id)
    where content_key is not null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_sealing_key`.execute(db);
}
