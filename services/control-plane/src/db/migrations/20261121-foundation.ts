import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table workspaces (
      id text primary key,
      name text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db);

  await sql`
    create table api_keys (
      id text primary key,
      workspace_id text not null references workspaces,
      name text not null,
      secret_hash bytea not null unique,
      prefix text not null,
      last4 text not null,
      environment text not null check (environment in ('live', 'test')),
      permissions text[] not null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      last_used_at timestamptz(3)
    )`.execute(db);
  await sql`create index api_keys_by_workspace on api_keys (workspace_id, created_at desc, id desc)`.execute(
    db,
  );

  await sql`
    create table videos (
      id text primary key,
      workspace_id text not null references workspaces,
      environment text not null check (environment in ('live', 'test')),
      status text not null check (status in ('uploading', 'processing', 'ready', 'failed')),
      title text not null,
      filename text not null,
      size bigint,
      sha256 text,
      content_type text,
      source jsonb,
      input_issues jsonb not null default '[]',
      duration float8,
      width int,
      height int,
      frame_rate float8,
      variants text[],
      target_duration int,
      storage_bytes bigint not null default 0,
      progress int not null default 0 check (progress between 0 and 100),
      attempt int not null default 0,
      failed_attempts int not null default 0,
      command_issued_at timestamptz(3),
      content_key text,
      error_code text,
      error_message text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      uploaded_at timestamptz(3),
      ready_at timestamptz(3),
      deleted_at timestamptz(3),
      constraint ready_is_complete check (
        status <> 'ready' or deleted_at is not null
        or (content_key is not null and variants is not null and target_duration is not null)
      ),
      constraint failed_has_no_key check (status <> 'failed' or content_key is null),
      constraint failed_has_a_code check ((status = 'failed') = (error_code is not null)),
      constraint deleted_has_no_key check (deleted_at is null or content_key is null)
    )`.execute(db);
  await sql`
    create index videos_by_workspace on videos (workspace_id, created_at desc, id desc)
    where deleted_at is null`.execute(db);
  await sql`
    create index videos_by_status on videos (workspace_id, status, created_at desc, id desc)
    where deleted_at is null`.execute(db);
  await sql`
    create index videos_processing on videos (command_issued_at)
    where status = 'processing' and deleted_at is null`.execute(db);

  await sql`
    create table upload_tickets (
      video_id text primary key references videos,
      token_hash bytea not null unique,
      expires_at timestamptz(3) not null,
      transfer_id text,
      lease_expires_at timestamptz(3),
      used_at timestamptz(3),
      constraint lease_belongs_to_a_transfer check ((transfer_id is null) = (lease_expires_at is null))
    )`.execute(db);
  await sql`create index upload_tickets_unused on upload_tickets (expires_at) where used_at is null`.execute(
    db,
  );

  await sql`
    create table attempts (
      video_id text not null references videos,
      number int not null check (number > 0),
      started_at timestamptz(3) not null default now(),
      lease_expires_at timestamptz(3) not null,
      outcome text check (outcome in ('completed', 'failed', 'lease_expired', 'handed_back')),
      finished_at timestamptz(3),
      failure_code text,
      failure_message text,
      primary key (video_id, number),
      constraint finished_has_an_outcome check ((outcome is null) = (finished_at is null))
    )`.execute(db);
  // At most one attempt of a video runs at any time.
  await sql`create unique index attempts_running on attempts (video_id) where outcome is null`.execute(db);
  await sql`create index attempts_by_lease on attempts (lease_expires_at) where outcome is null`.execute(db);

  await sql`
    create table renditions (
      video_id text not null references videos,
      name text not null check (name in ('360p', '480p', '720p', '1080p', 'audio')),
      codecs text not null,
      width int,
      height int,
      frame_rate float8,
      channels int,
      language text,
      bandwidth int not null check (bandwidth > 0),
      average_bandwidth int not null check (average_bandwidth > 0),
      segment_durations float8[] not null,
      segment_bytes int[] not null,
      primary key (video_id, name),
      constraint segments_are_whole check (
        cardinality(segment_durations) = cardinality(segment_bytes) and cardinality(segment_bytes) > 0
      )
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['renditions', 'attempts', 'upload_tickets', 'videos', 'api_keys', 'workspaces']) {
    await sql`drop table ${sql.table(table)}`.execute(db);
  }
}
