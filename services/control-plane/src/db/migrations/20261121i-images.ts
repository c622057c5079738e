import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table videos
      add column poster_bytes int,
      add column storyboard jsonb`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos drop column poster_bytes, drop column storyboard`.execute(db);
}
