import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table quotas (
      workspace_id text primary key references workspaces,
      stored_bytes bigint check (stored_bytes >= 0),
      transcoded_minutes bigint check (transcoded_minutes >= 0),
      videos bigint check (videos >= 0),
      uploads bigint check (uploads >= 0),
      file_bytes bigint check (file_bytes > 0)
    )`.execute(db);
  await sql`
    alter table upload_tickets
      add column declared_bytes bigint,
      add column reserved_bytes bigint not null default 0`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_tickets drop column declared_bytes, drop column reserved_bytes`.execute(db);
  await sql`drop table quotas`.execute(db);
}
