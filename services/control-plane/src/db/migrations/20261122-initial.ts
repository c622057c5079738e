import { type Kysely, sql } from 'kysely';

const TABLES = [
  `create table workspaces (
    id text primary key,
    name text not null,
    created_at timestamptz(3) not null default now()
  )`,

  `create table api_keys (
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
    last_used_at timestamptz(3),
    created_by text references api_keys
  )`,
  'create index api_keys_by_workspace on api_keys (workspace_id, created_at desc, id desc)',

  `create table videos (
    id text primary key,
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    status text not null check (status in ('uploading', 'processing', 'ready', 'failed')),
    title text not null,
    filename text not null,
    size bigint,
    sha256 text,
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
    command_due_at timestamptz(3),
    command_claimed_until timestamptz(3),
    command_published_at timestamptz(3),
    content_key text,
    error_code text,
    error_message text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    uploaded_at timestamptz(3),
    ready_at timestamptz(3),
    deleted_at timestamptz(3),
    playback_policy text not null default 'public' check (playback_policy in ('public', 'signed')),
    metadata jsonb not null default '{}'
      constraint metadata_is_an_object check (jsonb_typeof(metadata) = 'object'),
    tags text[] not null default '{}',
    passthrough text,
    remove_at timestamptz(3),
    waiting_since timestamptz(3),
    source_key text,
    poster_bytes int,
    storyboard jsonb,
    constraint deleted_has_no_key check (deleted_at is null or content_key is null),
    constraint failed_has_a_code check ((status = 'failed') = (error_code is not null)),
    constraint failed_has_no_key check (status <> 'failed' or content_key is null),
    constraint ready_is_complete check (
      status <> 'ready' or deleted_at is not null
      or (content_key is not null and variants is not null and target_duration is not null)
    ),
    constraint uploaded_has_a_source check ((uploaded_at is null) = (source_key is null)),
    constraint commands_are_for_processing_videos check (
      command_due_at is null or (status = 'processing' and deleted_at is null)
    ),
    constraint claimed_commands_are_due check (command_claimed_until is null or command_due_at is not null)
  )`,
  `create index videos_by_workspace on videos (workspace_id, created_at desc, id desc)
    where deleted_at is null`,
  `create index videos_by_kind on videos (workspace_id, environment, status, created_at desc, id desc)
    where deleted_at is null`,
  'create index videos_by_title on videos using gin (title gin_trgm_ops) where deleted_at is null',
  `create index videos_processing on videos (command_published_at)
    where status = 'processing' and deleted_at is null`,
  'create index videos_with_due_command on videos (command_due_at) where command_due_at is not null',
  // Finds, among the videos that an engine has claimed, the one that began to wait last.
  `create index videos_by_wait on videos (waiting_since desc)
    where waiting_since is not null and deleted_at is null`,
  // With this index alone, PostgreSQL can add up the stored bytes.
  `create index videos_stored on videos (workspace_id, environment) include (storage_bytes)
    where deleted_at is null`,
  // The header of a sealed value names the secret that sealed it.
  `create index videos_by_sealing_key on videos ((split_part(content_key, '.', 1) collate "C"), id)
    where content_key is not null`,
  `create index videos_to_remove on videos (remove_at)
    where remove_at is not null and deleted_at is null`,
  'create index videos_tombstones on videos (deleted_at) where deleted_at is not null',

  `create table upload_tickets (
    video_id text primary key references videos,
    token_hash bytea not null unique,
    expires_at timestamptz(3) not null,
    transfer_id text,
    lease_expires_at timestamptz(3),
    used_at timestamptz(3),
    announced_bytes bigint,
    constraint lease_belongs_to_a_transfer check ((transfer_id is null) = (lease_expires_at is null))
  )`,
  'create index upload_tickets_unused on upload_tickets (expires_at) where used_at is null',
  `create index upload_tickets_under_way on upload_tickets (lease_expires_at)
    where transfer_id is not null and used_at is null`,

  `create table attempts (
    video_id text not null references videos,
    number int not null check (number > 0),
    started_at timestamptz(3) not null default now(),
    lease_expires_at timestamptz(3) not null,
    outcome text check (outcome in ('completed', 'failed', 'lease_expired', 'handed_back')),
    finished_at timestamptz(3),
    primary key (video_id, number),
    constraint finished_has_an_outcome check ((outcome is null) = (finished_at is null))
  )`,
  // At most one attempt of a video runs at any time.
  'create unique index attempts_running on attempts (video_id) where outcome is null',
  'create index attempts_by_lease on attempts (lease_expires_at) where outcome is null',

  `create table renditions (
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
    constraint segments_have_durations_and_bytes check (
      cardinality(segment_durations) = cardinality(segment_bytes) and cardinality(segment_bytes) > 0
    )
  )`,

  `create table object_purges (
    video_id text primary key references videos,
    pass int not null default 1 check (pass > 0),
    due_at timestamptz(3) not null default now(),
    claimed_until timestamptz(3)
  )`,
  'create index object_purges_due on object_purges (due_at)',

  `create table maintenance_steps (
    name text primary key,
    due_at timestamptz(3) not null default now(),
    claimed_until timestamptz(3)
  )`,

  `create table usage_daily (
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    day date not null,
    transcoded_ms bigint not null default 0 check (transcoded_ms >= 0),
    bandwidth_bytes bigint not null default 0 check (bandwidth_bytes >= 0),
    primary key (workspace_id, environment, day)
  )`,

  `create table webhook_endpoints (
    id text primary key,
    workspace_id text not null references workspaces,
    url text not null,
    description text,
    events text[] not null
      constraint events_are_known
      check (events <@ array['video.ready', 'video.failed', 'video.deleted'] and events <> '{}'),
    enabled boolean not null,
    disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
    secret text not null,
    previous_secret text,
    previous_secret_expires_at timestamptz(3),
    consecutive_failures int not null default 0,
    failing_since timestamptz(3),
    last_attempt_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint disabled_for_a_reason check (enabled = (disabled_reason is null)),
    constraint previous_secret_expires check (
      (previous_secret is null) = (previous_secret_expires_at is null)
    ),
    constraint failing_has_failures check ((consecutive_failures > 0) = (failing_since is not null))
  )`,
  `create index webhook_endpoints_by_workspace on webhook_endpoints
    (workspace_id, created_at desc, id desc)`,

  `create table webhook_events (
    id text primary key,
    workspace_id text not null references workspaces,
    type text not null,
    payload text not null,
    created_at timestamptz(3) not null default now()
  )`,
  'create index webhook_events_by_age on webhook_events (created_at)',

  `create table webhook_deliveries (
    id text primary key,
    endpoint_id text not null references webhook_endpoints on delete cascade,
    event_id text not null references webhook_events on delete cascade,
    status text not null default 'pending' check (status in ('pending', 'retrying', 'succeeded', 'failed')),
    attempts int not null default 0,
    failures int not null default 0,
    next_attempt_at timestamptz(3),
    last_attempt_at timestamptz(3),
    response_status int,
    failure text,
    created_at timestamptz(3) not null default now(),
    claimed_until timestamptz(3),
    round int not null default 1,
    constraint one_delivery_per_event_and_endpoint unique (event_id, endpoint_id),
    constraint open_has_a_next_attempt check (
      (status in ('pending', 'retrying')) = (next_attempt_at is not null)
    ),
    constraint attempted_has_a_last_attempt check ((attempts > 0) = (last_attempt_at is not null))
  )`,
  `create index webhook_deliveries_by_endpoint on webhook_deliveries
    (endpoint_id, created_at desc, id desc)`,
  `create index webhook_deliveries_by_attempt on webhook_deliveries (endpoint_id, last_attempt_at desc)
    where last_attempt_at is not null`,
  `create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at)
    where next_attempt_at is not null`,
  `create index webhook_deliveries_overdue on webhook_deliveries (next_attempt_at)
    where next_attempt_at is not null`,
  `create index webhook_deliveries_claimed on webhook_deliveries (endpoint_id)
    where claimed_until is not null`,

  `create table webhook_attempts (
    delivery_id text not null references webhook_deliveries on delete cascade,
    number int not null check (number > 0),
    at timestamptz(3) not null,
    duration_ms int not null,
    response_status int,
    failure text,
    primary key (delivery_id, number)
  )`,

  `create table idempotency_keys (
    workspace_id text not null references workspaces,
    key_hash bytea not null,
    payload_hash bytea not null,
    leased_until timestamptz(3),
    status int,
    location text,
    body json,
    created_at timestamptz(3) not null default now(),
    primary key (workspace_id, key_hash),
    constraint leased_or_has_a_response check ((leased_until is null) = (status is not null)),
    constraint response_has_a_body check ((status is null) = (body is null))
  )`,
  'create index idempotency_keys_by_age on idempotency_keys (created_at)',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  for (const statement of TABLES) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  const names = TABLES.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []);
  for (const name of names.toReversed()) await sql`drop table ${sql.table(name)}`.execute(db);
  await sql`drop extension pg_trgm`.execute(db);
}
