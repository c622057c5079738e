import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table videos
      add column playback_policy text not null default 'public'
        constraint videos_playback_policy_check check (playback_policy in ('public', 'signed')),
      add column metadata jsonb not null default '{}'
        constraint metadata_is_an_object check (jsonb_typeof(metadata) = 'object'),
      add column tags text[] not null default '{}',
      add column passthrough text,
      add column remove_at timestamptz(3)`.execute(db);
  await sql`
    create index videos_to_remove on videos (remove_at)
    where remove_at is not null and deleted_at is null`.execute(db);

  // A list of some kinds of videos is one walk for each of them.
  await sql`
    create index videos_by_kind on videos (workspace_id, environment, status, created_at desc, id desc)
    where deleted_at is null`.execute(db);
  await sql`drop index videos_by_status`.execute(db);

  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index videos_by_title on videos using gin (title gin_trgm_ops) where deleted_at is null`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_title`.execute(db);
  await sql`drop extension pg_trgm`.execute(db);
  await sql`
    create index videos_by_status on videos (workspace_id, status, created_at desc, id desc)
    where deleted_at is null`.execute(db);
  await sql`drop index videos_by_kind`.execute(db);
  await sql`
    alter table videos
      drop column playback_policy, drop column metadata, drop column tags, drop column passthrough,
      drop column remove_at`.execute(db);
}
