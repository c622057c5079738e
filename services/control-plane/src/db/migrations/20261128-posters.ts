import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos add column chosen_poster jsonb`.execute(db);
  // A JPEG is compressed already.
  await sql`create table posters (
    video_id text primary key references videos (id) on delete cascade,
    image bytea storage external not null
  )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table posters`.execute(db);
  await sql`alter table videos drop column chosen_poster`.execute(db);
}
