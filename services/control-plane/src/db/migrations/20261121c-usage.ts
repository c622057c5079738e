import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table usage_daily (
      workspace_id text not null references workspaces,
      environment text not null check (environment in ('live', 'test')),
      day date not null,
      transcoded_ms bigint not null default 0 check (transcoded_ms >= 0),
      bandwidth_bytes bigint not null default 0 check (bandwidth_bytes >= 0),
      primary key (workspace_id, environment, day)
    )`.execute(db);
  // What is stored is summed up from the index alone.
  await sql`
    create index videos_stored on videos (workspace_id, environment) include (storage_bytes)
    where deleted_at is null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_stored`.execute(db);
  await sql`drop table usage_daily`.execute(db);
}
