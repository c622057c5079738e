import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos add column source_key text`.execute(db);
  // Until now all transfers of a video wrote to one place.
  await sql`
    update videos set source_key = 'sources/' || workspace_id || '/' || id || '/original'
    where uploaded_at is not null`.execute(db);
  await sql`
    alter table videos add constraint uploaded_has_a_source
      check ((uploaded_at is null) = (source_key is null))`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos drop column source_key`.execute(db);
}
