import { type Kysely, sql } from 'kysely';

const EXTENSIONS = ['pg_trgm', 'btree_gin'];

/**
 * The audit log: ADR 101 and 110. A transaction with an actor (`framelane.actor`) records its changes of these tables. Each has the type of its
 * resources, the column with their id, that of the part (or an empty text), the columns whose changes are recorded by name, and those whose old and new
 * values are recorded, too: none that can have a text of a person.
 */
const AUDITED: readonly {
  table: string;
  type: string;
  id: string;
  part?: string;
  columns: string[];
  values?: string[];
}[] = [
  { table: 'workspaces', type: 'workspace', id: 'id', columns: ['name'] },
  {
    table: 'quotas',
    type: 'limits',
    id: 'workspace_id',
    columns: [],
    values: ['stored_bytes', 'transcoded_minutes', 'videos', 'uploads', 'file_bytes'],
  },
  {
    table: 'api_keys',
    type: 'api_key',
    id: 'id',
    columns: ['revoked_at'],
    values: ['environment', 'permissions', 'expires_at'],
  },
  {
    table: 'console_people',
    type: 'person',
    id: 'email',
    columns: [],
    values: ['environments', 'permissions', 'administrator'],
  },
  {
    table: 'console_codes',
    type: 'sign_in_link',
    id: 'name',
    columns: [],
    values: ['environments', 'permissions', 'administrator'],
  },
  { table: 'console_sessions', type: 'session', id: 'id', columns: [] },
  {
    table: 'videos',
    type: 'video',
    id: 'id',
    columns: [
      ...['title', 'metadata', 'tags', 'passthrough', 'allowed_origins'],
      ...['source_deleted_at', 'chosen_poster', 'retried_at', 'codecs', 'deleted_at'],
    ],
    values: ['playback_policy', 'keep_source_days'],
  },
  {
    table: 'captions',
    type: 'captions',
    id: 'video_id',
    part: 'language',
    columns: ['label', 'cues', 'cue_starts', 'cue_ends'],
    values: ['is_default'],
  },
  { table: 'chapters', type: 'chapters', id: 'video_id', columns: ['starts', 'titles'] },
  { table: 'posters', type: 'poster', id: 'video_id', columns: ['image'] },
  { table: 'downloads', type: 'download', id: 'video_id', part: 'name', columns: ['created_at'] },
  {
    table: 'auto_captions',
    type: 'auto_captions',
    id: 'video_id',
    part: 'requested',
    columns: ['created_at'],
  },
  { table: 'watermarks', type: 'watermark', id: 'id', columns: ['name', 'deleted_at'] },
  {
    table: 'webhook_endpoints',
    type: 'webhook',
    id: 'id',
    columns: ['url', 'description', 'secret'],
    values: ['events', 'enabled'],
  },
];

/** What records changes. Rows of a video have no workspace: it is that of the video. */
const AUDIT = [
  // A UUIDv7 in the alphabet of TypeID: 128 bits after two zeros are 26 characters of 5 bits.
  `create function new_audit_event_id() returns text language sql volatile as $$
    with random as (
      select overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
      ) as bytes
    ), bits as (
      select b'00' || ('x' || encode(set_bit(set_bit(bytes, 52, 1), 53, 1), 'hex'))::bit(128) as bits from random
    )
    select 'aud_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + substring(bits from 1 + 5 * place for 5)::bit(5)::int, 1),
      '' order by place
    )
    from bits, generate_series(0, 25) as place
  $$`,
  // In UTC, because times become text.
  `create function record_change() returns trigger language plpgsql set timezone = 'UTC' as $$
  declare
    actor jsonb := current_setting('framelane.actor')::jsonb;
    valued text[] := string_to_array(tg_argv[4], ',');
    audited text[] := string_to_array(tg_argv[3], ',') || valued;
    old_row jsonb;
    new_row jsonb;
    known jsonb;
    changed text[] := '{}';
    new_values jsonb := '{}';
    done text := case tg_op when 'INSERT' then 'created' when 'DELETE' then 'deleted' else 'updated' end;
    workspace text;
  begin
    if tg_op <> 'INSERT' then old_row := to_jsonb(old); end if;
    if tg_op <> 'DELETE' then new_row := to_jsonb(new); end if;
    known := coalesce(new_row, old_row);
    if tg_op = 'UPDATE' then
      select coalesce(array_agg(name order by name), '{}') into changed
      from unnest(audited) as name where new_row -> name is distinct from old_row -> name;
      if changed = '{}' then return null; end if;
      if changed && array['deleted_at', 'revoked_at'] then
        done := 'deleted';
        changed := '{}';
      end if;
    end if;
    if tg_op <> 'UPDATE' or changed <> '{}' then
      select coalesce(jsonb_object_agg(name, jsonb_build_array(old_row -> name, new_row -> name)), '{}') into new_values
      from unnest(valued) as name
      where coalesce(new_row -> name, 'null') is distinct from coalesce(old_row -> name, 'null');
    end if;
    workspace := coalesce(
      known ->> 'workspace_id',
      case when tg_table_name = 'workspaces' then known ->> 'id' end,
      (select workspace_id from videos where id = known ->> 'video_id')
    );
    insert into audit_events (
      id, workspace_id, actor_type, actor_id, actor_name, operation, request_id,
      action, resource_type, resource_id, resource_part, fields, changes, created_at
    ) values (
      new_audit_event_id(), workspace, actor ->> 'type', actor ->> 'id', actor ->> 'name', actor ->> 'operation',
      actor ->> 'requestId', done, tg_argv[0], known ->> tg_argv[1], known ->> nullif(tg_argv[2], ''), changed,
      new_values, clock_timestamp()
    );
    return null;
  end $$`,
  ...AUDITED.map(
    ({ table, type, id, part = '', columns, values = [] }) => `create trigger record_change
      after insert or update or delete on ${table} for each row
      when (coalesce(current_setting('framelane.actor', true), '') <> '')
      execute function record_change('${type}', '${id}', '${part}', '${columns.join(',')}', '${values.join(',')}')`,
  ),
  // Nobody changes an event, and its retention is the only deletion.
  `create function refuse_change_of_audit() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and old.created_at < now() - interval '90 days' then return old; end if;
    raise exception 'Audit events cannot be changed, and not deleted within 90 days' using errcode = 'insufficient_privilege';
  end $$`,
  `create trigger refuse_change before update or delete on audit_events
    for each row execute function refuse_change_of_audit()`,
  `create trigger refuse_truncation before truncate on audit_events
    for each statement execute function refuse_change_of_audit()`,
  // Also with session_replication_role = replica.
  'alter table audit_events enable always trigger refuse_change, enable always trigger refuse_truncation',
];

/** Grows with each change of a row, also after the row was deleted and inserted again: by the clock, so only if that does not go back. */
const VERSION = 'bigint not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint';

const TABLES = [
  `create table workspaces (
    id text primary key,
    name text not null,
    created_at timestamptz(3) not null default now()
  )`,

  `create table quotas (
    workspace_id text primary key references workspaces,
    stored_bytes bigint check (stored_bytes >= 0),
    transcoded_minutes bigint check (transcoded_minutes >= 0),
    videos bigint check (videos >= 0),
    uploads bigint check (uploads >= 0),
    file_bytes bigint check (file_bytes > 0)
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
    created_by text references api_keys,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    last_used_at timestamptz(3)
  )`,
  'create index api_keys_by_workspace on api_keys (workspace_id, created_at desc, id desc)',

  `create table console_codes (
    code_hash bytea not null,
    workspace_id text not null references workspaces,
    name text not null,
    environments text[] not null,
    permissions text[] not null,
    administrator boolean not null,
    expires_at timestamptz(3) not null,
    used_at timestamptz(3),
    refused_at timestamptz(3),
    primary key (code_hash, workspace_id)
  )`,
  'create index console_codes_by_expiry on console_codes (expires_at)',

  `create table console_people (
    email text not null,
    workspace_id text not null references workspaces,
    environments text[] not null,
    permissions text[] not null,
    administrator boolean not null,
    created_at timestamptz(3) not null default now(),
    primary key (email, workspace_id)
  )`,

  // Whoever removes a person from a workspace also ends the sessions that depend on it.
  `create table console_sessions (
    id text primary key,
    token_hash bytea not null,
    workspace_id text not null references workspaces,
    name text not null,
    environments text[] not null,
    permissions text[] not null,
    administrator boolean not null,
    person_email text,
    user_agent text,
    created_at timestamptz(3) not null default now(),
    last_seen_at timestamptz(3) not null default now(),
    idle_expires_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    unique (token_hash, workspace_id),
    constraint console_sessions_person_fkey foreign key (person_email, workspace_id)
      references console_people on delete cascade,
    constraint idle_expiry_comes_first check (idle_expires_at <= expires_at)
  )`,
  'create index console_sessions_by_workspace on console_sessions (workspace_id, created_at desc, id desc)',
  'create index console_sessions_by_expiry on console_sessions (idle_expires_at)',
  `create index console_sessions_by_person on console_sessions (person_email, workspace_id)
    where person_email is not null`,

  `create table videos (
    id text primary key,
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    status text not null check (status in ('uploading', 'processing', 'ready', 'failed')),
    title text not null,
    filename text not null,
    playback_policy text not null default 'public' check (playback_policy in ('public', 'signed')),
    allowed_origins text[],
    playback_version int not null default 0,
    metadata jsonb not null default '{}'
      constraint metadata_is_an_object check (jsonb_typeof(metadata) = 'object'),
    tags text[] not null default '{}',
    passthrough text,
    packaging text not null default 'ts' check (packaging in ('ts', 'cmaf')),
    codecs jsonb not null default '[]' constraint codecs_are_an_array check (jsonb_typeof(codecs) = 'array'),
    hdr text not null default 'sdr' check (hdr in ('sdr', 'keep')),
    audio_only boolean,
    trim jsonb,
    watermark jsonb,
    size bigint,
    sha256 text,
    source jsonb,
    input_issues jsonb not null default '[]',
    duration float8,
    width int,
    height int,
    frame_rate float8,
    variants text[],
    preview_variants text[],
    target_duration int,
    start_timestamp bigint,
    storyboard jsonb,
    chosen_poster jsonb,
    poster_time float8,
    chapter_count int not null default 0,
    storage_bytes bigint not null default 0,
    progress int not null default 0 check (progress between 0 and 100),
    attempt int not null default 0,
    as_a_whole boolean not null default false,
    content_key text,
    error_code text,
    error_message text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    uploaded_at timestamptz(3),
    ready_at timestamptz(3),
    failed_at timestamptz(3),
    retried_at timestamptz(3)[] not null default '{}',
    keep_source_days int,
    delete_source_at timestamptz(3),
    source_deleted_at timestamptz(3),
    remove_at timestamptz(3),
    deleted_at timestamptz(3),
    traceparent text,
    constraint deleted_has_no_key check (deleted_at is null or content_key is null),
    constraint failed_has_a_code check ((status = 'failed') = (error_code is not null)),
    constraint failed_has_no_key check (status <> 'failed' or content_key is null),
    constraint ready_is_complete check (
      status <> 'ready' or deleted_at is not null
      or (content_key is not null and variants is not null and target_duration is not null
        and start_timestamp is not null)
    )
  )`,
  `create index videos_by_workspace on videos (workspace_id, created_at desc, id desc)
    where deleted_at is null`,
  `create index videos_by_kind on videos (workspace_id, environment, status, created_at desc, id desc)
    where deleted_at is null`,
  'create index videos_by_title on videos using gin (title gin_trgm_ops) where deleted_at is null',
  // It contains the workspace, so a search does not read videos of other workspaces with the same tag.
  'create index videos_by_tag on videos using gin (workspace_id, tags) where deleted_at is null',
  // With this index alone, PostgreSQL can add up the stored bytes.
  `create index videos_stored on videos (workspace_id, environment) include (storage_bytes)
    where deleted_at is null`,
  // The header of a sealed value names the secret that sealed it.
  `create index videos_by_sealing_key on videos ((split_part(content_key, '.', 1) collate "C"), id)
    where content_key is not null`,
  `create index videos_with_source_to_delete on videos (delete_source_at)
    where delete_source_at is not null`,
  `create index videos_to_remove on videos (remove_at)
    where remove_at is not null and deleted_at is null`,
  'create index videos_tombstones on videos (deleted_at) where deleted_at is not null',
  // A deleted image is stored until none of these needs it.
  `create index videos_by_needed_watermark on videos ((watermark ->> 'image'))
    where watermark is not null and deleted_at is null`,

  `create table upload_tickets (
    video_id text primary key references videos,
    token_hash bytea not null unique,
    expires_at timestamptz(3) not null,
    extension_seconds int not null,
    latest_expires_at timestamptz(3) not null,
    transfer_id text,
    lease_expires_at timestamptz(3),
    claim_id text,
    announced_bytes bigint,
    declared_bytes bigint,
    reserved_bytes bigint not null default 0,
    unpurged_bytes bigint not null default 0,
    used_at timestamptz(3),
    constraint lease_belongs_to_a_transfer check ((transfer_id is null) = (lease_expires_at is null))
  )`,
  'create index upload_tickets_unused on upload_tickets (expires_at) where used_at is null',
  `create index upload_tickets_under_way on upload_tickets (lease_expires_at)
    where transfer_id is not null and used_at is null`,
  'create index upload_tickets_unpurged on upload_tickets (video_id) where unpurged_bytes > 0',

  `create table imports (
    video_id text primary key references videos on delete cascade,
    workspace_id text not null references workspaces,
    claim_id text,
    shown_url text not null,
    request text,
    deadline timestamptz(3) not null,
    due_at timestamptz(3),
    claimed_until timestamptz(3),
    transfer_id text,
    bytes bigint not null default 0,
    total_bytes bigint,
    tries int not null default 0,
    failure text,
    next_try_at timestamptz(3),
    started_over boolean not null default false,
    constraint due_or_erased check ((due_at is null) = (request is null))
  )`,
  'create index imports_due on imports (due_at) where due_at is not null',
  'create index imports_by_turn on imports (workspace_id, due_at) where due_at is not null',
  'create index imports_claimed on imports (workspace_id) where claimed_until is not null',
  'create index imports_by_claim on imports (claim_id) where claim_id is not null',

  `create table resumable_uploads (
    transfer_id text primary key,
    video_id text not null references upload_tickets on delete cascade,
    length bigint not null check (length > 0),
    metadata text not null,
    epoch int not null default 0,
    claim_id text,
    checkpoint jsonb,
    ended_at timestamptz(3),
    end_reason text check (end_reason in ('completed', 'terminated', 'superseded')),
    constraint ended_has_a_reason check ((ended_at is null) = (end_reason is null))
  )`,
  // At most one upload of a ticket can be continued.
  'create unique index resumable_uploads_unfinished on resumable_uploads (video_id) where ended_at is null',
  'create index resumable_uploads_by_video on resumable_uploads (video_id)',

  // The parent can be deleted before the clip.
  `create table clips (
    video_id text primary key references videos on delete cascade,
    parent_id text not null,
    first_frame bigint not null check (first_frame >= 0),
    frames bigint not null check (frames > 0),
    starts_at float8 not null,
    ends_at float8 not null,
    stored_bytes bigint not null check (stored_bytes > 0),
    disk_bytes bigint not null check (disk_bytes > 0)
  )`,
  'create index clips_by_parent on clips (parent_id)',

  `create table attempts (
    video_id text not null references videos,
    number int not null check (number > 0),
    due_at timestamptz(3) not null,
    started_at timestamptz(3),
    claim_id text,
    next_task int not null default 1,
    plan jsonb,
    planned jsonb,
    source_sha256 text,
    outcome text check (outcome in ('completed', 'failed', 'lease_expired', 'handed_back')),
    finished_at timestamptz(3),
    primary key (video_id, number),
    constraint finished_has_an_outcome check ((outcome is null) = (finished_at is null)),
    constraint open_plan_is_whole check (outcome is not null or (plan is null) = (planned is null))
  )`,
  // At most one attempt at a video is open at any time.
  'create unique index attempts_open on attempts (video_id) where outcome is null',

  `create table tasks (
    video_id text not null,
    workspace_id text not null references workspaces,
    attempt int not null,
    number int not null,
    kind text not null,
    command text not null check (command in ('plan', 'task', 'background', 'derive', 'picture', 'transcribe', 'clip')),
    work jsonb,
    input_bytes bigint,
    frames int not null check (frames >= 0),
    progress real not null default 0 check (progress between 0 and 1),
    tries int not null default 0,
    failed_tries int not null default 0,
    claim_id text,
    reported boolean not null default false,
    unreported_tries int not null default 0,
    due_at timestamptz(3) not null default now(),
    command_due_at timestamptz(3),
    command_claimed_until timestamptz(3),
    command_published_at timestamptz(3),
    lease_expires_at timestamptz(3),
    started_at timestamptz(3),
    started_renditions jsonb not null default '{}',
    result jsonb,
    traceparent text,
    primary key (video_id, attempt, number),
    foreign key (video_id, attempt) references attempts on delete cascade,
    constraint first_task_plans check (
      number >= 0 and (number = 0) = (kind in ('plan', 'whole', 'clip')) and (number = 0) = (work is null)
        and (number = 0) = (command in ('plan', 'clip'))
    ),
    constraint reader_of_renditions_has_a_size check ((command in ('derive', 'picture', 'transcribe', 'clip')) = (input_bytes is not null)),
    constraint done_has_no_lease check (result is null or lease_expires_at is null)
  )`,
  // The commands of each type have a queue of their own, in which workspaces take turns.
  `create index tasks_by_turn on tasks (command, workspace_id, command_due_at)
    where command_due_at is not null`,
  `create index tasks_with_command on tasks (workspace_id)
    where command_published_at is not null or command_claimed_until is not null`,
  `create index tasks_by_publication on tasks (command_published_at)
    where command_published_at is not null`,
  'create index tasks_by_lease on tasks (lease_expires_at) where lease_expires_at is not null',
  // What they will store counts against the quota of their workspace. The condition on the size keeps other queries from using the index.
  `create index tasks_that_store on tasks (workspace_id) where command in ('derive', 'clip') and input_bytes > 0`,

  `create table engines (
    id text primary key,
    host text not null,
    port int not null,
    state text not null check (state in ('working', 'stopping')),
    roles text[] not null,
    version text not null,
    node_version text not null,
    ffmpeg_version text,
    hardware text,
    hardware_refusal text,
    slots int not null,
    slots_busy int not null,
    tasks int not null,
    uploads int not null,
    imports int not null,
    disk_free_bytes bigint,
    started_at timestamptz(3) not null,
    last_seen_at timestamptz(3) not null
  )`,

  `create table renditions (
    video_id text not null references videos,
    name text not null check (name ~ '^(\\d{3,4}p(-\\w+)?|iframes|(audio|surround)[2-8]?)$'),
    codecs text not null,
    width int,
    height int,
    frame_rate float8,
    video_range text check (video_range in ('PQ', 'HLG')),
    channels int,
    language text,
    label text,
    role text,
    bandwidth int not null check (bandwidth > 0),
    average_bandwidth int not null check (average_bandwidth > 0),
    segment_durations float8[] not null,
    segment_bytes int[] not null,
    initialization bytea check (octet_length(initialization) > 0),
    primary key (video_id, name),
    constraint audio_has_label check ((channels is null) = (label is null)),
    constraint segments_have_durations_and_bytes check (
      cardinality(segment_durations) = cardinality(segment_bytes) and cardinality(segment_bytes) > 0
    )
  )`,

  `create table captions (
    video_id text not null references videos on delete cascade,
    language text not null,
    label text not null,
    is_default boolean not null,
    origin text not null check (origin in ('person', 'file', 'machine')),
    revision int not null,
    cue_count int not null,
    cue_starts bigint[] not null,
    cue_ends bigint[] not null,
    cues text[] not null,
    updated_at timestamptz(3) not null default now(),
    primary key (video_id, language),
    constraint cues_have_times check (
      cardinality(cues) = cue_count and cue_count > 0
      and cardinality(cue_starts) = cue_count
      and cardinality(cue_ends) = cue_count
    )
  )`,

  `create table chapters (
    video_id text primary key references videos on delete cascade,
    origin text not null check (origin in ('person', 'file')),
    starts int[] not null,
    titles text[] not null,
    updated_at timestamptz(3) not null default now(),
    constraint chapters_have_titles check (cardinality(starts) = cardinality(titles) and cardinality(starts) > 0)
  )`,

  // A JPEG is compressed already.
  `create table posters (
    video_id text primary key references videos on delete cascade,
    image bytea not null
  )`,
  'alter table posters alter column image set storage external',

  // Images are compressed already.
  `create table watermarks (
    id text primary key,
    workspace_id text not null references workspaces,
    name text,
    format text not null check (format in ('png', 'jpeg')),
    width int not null check (width > 0),
    height int not null check (height > 0),
    bytes int not null check (bytes = octet_length(image)),
    image bytea not null,
    created_at timestamptz(3) not null default now(),
    deleted_at timestamptz(3)
  )`,
  'alter table watermarks alter column image set storage external',
  `create index watermarks_by_workspace on watermarks (workspace_id, created_at desc, id desc)
    include (bytes)`,
  'create index watermarks_deleted on watermarks (deleted_at) where deleted_at is not null',

  `create table downloads (
    video_id text not null references videos on delete cascade,
    name text not null,
    status text not null default 'preparing' check (status in ('preparing', 'ready', 'failed')),
    error_code text,
    error_message text,
    created_at timestamptz(3) not null default now(),
    ready_at timestamptz(3),
    primary key (video_id, name),
    constraint failed_download_has_a_code check ((status = 'failed') = (error_code is not null)),
    constraint ready_download_has_a_time check ((status = 'ready') = (ready_at is not null))
  )`,

  // The language that was asked for, or an empty text if it is to be detected, and that of the captions which were made.
  `create table auto_captions (
    video_id text not null references videos on delete cascade,
    requested text not null,
    language text,
    status text not null default 'preparing' check (status in ('preparing', 'ready', 'failed')),
    error_code text,
    error_message text,
    created_at timestamptz(3) not null default now(),
    ready_at timestamptz(3),
    primary key (video_id, requested),
    constraint failed_auto_captions_have_a_code check ((status = 'failed') = (error_code is not null)),
    constraint ready_auto_captions_have_a_language check (
      (status = 'ready') = (ready_at is not null) and (status = 'ready') = (language is not null)
    )
  )`,

  `create table pictures (
    video_id text not null references videos on delete cascade,
    workspace_id text not null references workspaces,
    name text not null,
    status text not null default 'preparing' check (status in ('preparing', 'ready', 'failed')),
    used_at timestamptz(3) not null default now(),
    primary key (video_id, name)
  )`,
  `create index pictures_preparing on pictures (workspace_id) where status = 'preparing'`,

  // The folder is that of a transfer, or of a try of a task within the attempt. Without one, the file is in the database.
  `create table artifacts (
    video_id text not null references videos,
    kind text not null,
    name text not null default '',
    first_segment int not null default 0,
    attempt int,
    folder text,
    bytes bigint not null check (bytes > 0),
    primary key (video_id, kind, name, first_segment),
    constraint output_has_a_folder check (attempt is null or folder is not null)
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

  // At most one row.
  `create table backup_state (
    id boolean primary key default true check (id),
    timeline text not null,
    backup_id text,
    snapshot_at timestamptz(3),
    completed_at timestamptz(3),
    objects bigint,
    bytes bigint,
    missing bigint,
    constraint backup_is_complete check (
      num_nulls(backup_id, snapshot_at, completed_at, objects, bytes, missing) in (0, 6)
    )
  )`,

  `create table usage_daily (
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    day date not null,
    transcoded_ms bigint not null default 0 check (transcoded_ms >= 0),
    bandwidth_bytes bigint not null default 0 check (bandwidth_bytes >= 0),
    storage_bytes bigint,
    primary key (workspace_id, environment, day)
  )`,

  // One row for each playback that viewers report. A partition has the rows of a day in UTC; maintenance creates and drops them. Without foreign
  // keys: a report can arrive after the deletion of its video, and the roll-up then deletes it.
  `create table view_sessions (
    day date not null,
    video_id text not null,
    session_id uuid not null,
    visitor bytea,
    watched bit(100) not null,
    watched_at_rungs bit(400) not null,
    stalled bit(100) not null,
    watch_ms int check (watch_ms >= 0),
    startup_ms int check (startup_ms >= 0),
    stalls int not null check (stalls >= 0),
    stall_ms int not null check (stall_ms >= 0),
    error text,
    device text not null,
    country text,
    primary key (day, video_id, session_id)
  ) partition by range (day)`,

  // Days of videos whose reports have changed since their roll-up.
  `create table view_changes (
    video_id text not null,
    day date not null,
    version ${VERSION},
    primary key (video_id, day)
  )`,

  // Unlogged, so that no copy of the write-ahead log has a salt. Vacuumed after each deletion, so that none stays in the file of the table.
  `create unlogged table view_salts (
    day date primary key,
    salt bytea not null
  ) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0)`,

  `create table views_daily (
    video_id text not null references videos on delete cascade,
    day date not null,
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    views bigint not null,
    unique_viewers bigint not null,
    watch_ms bigint not null,
    stalls bigint not null,
    stall_ms bigint not null,
    retention int[] not null,
    breakdowns jsonb not null,
    version bigint not null,
    primary key (video_id, day)
  )`,
  'create index views_daily_by_workspace on views_daily (workspace_id, environment, day)',

  // Days of workspaces that have figures of videos that were summed up since their viewers were counted.
  `create table viewer_changes (
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    day date not null,
    version ${VERSION},
    primary key (workspace_id, environment, day)
  )`,

  `create table viewers_daily (
    workspace_id text not null references workspaces,
    environment text not null check (environment in ('live', 'test')),
    day date not null,
    unique_viewers bigint not null,
    primary key (workspace_id, environment, day)
  )`,

  `create table webhook_endpoints (
    id text primary key,
    workspace_id text not null references workspaces,
    url text not null,
    description text,
    events text[] not null constraint has_events check (events <> '{}'),
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
    traceparent text,
    created_at timestamptz(3) not null default now(),
    position bigint,
    video_id text
  )`,
  'create index webhook_events_by_video on webhook_events (video_id) where video_id is not null',
  'create index webhook_events_by_age on webhook_events (created_at)',
  'create unique index webhook_events_by_position on webhook_events (workspace_id, position)',
  // The events of a workspace get their positions in the order of their commits, so that a reader misses none: see ADR 94. The lock lasts from
  // here to the end of the commit, after all other locks of the transaction, so that it cannot deadlock.
  `create function place_event() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(hashtextextended('events of ' || new.workspace_id, 0));
    update webhook_events
    set position = greatest(
      (select max(position) from webhook_events where workspace_id = new.workspace_id) + 1,
      (extract(epoch from clock_timestamp()) * 1000000)::bigint
    )
    where id = new.id;
    return null;
  end $$`,
  `create constraint trigger place_event after insert on webhook_events deferrable initially deferred
    for each row when (new.position is null) execute function place_event()`,

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
  `create index webhook_deliveries_by_status on webhook_deliveries
    (endpoint_id, status, created_at desc, id desc)`,
  `create index webhook_deliveries_by_attempt on webhook_deliveries (endpoint_id, last_attempt_at desc)
    where last_attempt_at is not null`,
  `create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at)
    where next_attempt_at is not null`,
  `create index webhook_deliveries_overdue on webhook_deliveries (next_attempt_at)
    where next_attempt_at is not null`,
  `create index webhook_deliveries_claimed on webhook_deliveries (endpoint_id)
    where claimed_until is not null`,

  `create table delivery_attempts (
    delivery_id text not null references webhook_deliveries on delete cascade,
    number int not null check (number > 0),
    at timestamptz(3) not null,
    duration_ms int not null,
    response_status int,
    response_body text,
    request_headers jsonb,
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

  // A partition has the requests of a day in UTC; maintenance creates and drops them. Without foreign keys, because those would lock the other tables
  // then. At most 10,000 rows of a workspace: each flush deletes its oldest ones, by the sums in request_log_sizes.
  `create table request_log (
    id text not null,
    workspace_id text not null,
    request_id text not null,
    key_id text not null,
    key_last4 text not null,
    method text not null,
    route text not null,
    path text not null,
    query json not null,
    status int not null,
    problem_code text,
    duration_ms int not null,
    request_headers json not null,
    request_body json,
    response_headers json not null,
    response_body json,
    bytes int not null check (bytes > 0),
    created_at timestamptz(3) not null,
    primary key (id, created_at)
  ) partition by range (created_at)`,
  'create index request_log_by_workspace on request_log (workspace_id, created_at desc, id desc) include (bytes)',
  `create table request_log_sizes (
    workspace_id text not null references workspaces,
    day date not null,
    entries int not null,
    bytes bigint not null,
    primary key (workspace_id, day)
  )`,

  `create table audit_events (
    id text primary key,
    workspace_id text not null references workspaces,
    actor_type text not null check (actor_type in ('api_key', 'person', 'link', 'command_line')),
    actor_id text,
    actor_name text not null,
    operation text not null,
    request_id text,
    action text not null
      check (action in ('created', 'updated', 'deleted', 'signed_in', 'signed_out', 'refused', 'exported')),
    resource_type text not null,
    resource_id text not null,
    resource_part text,
    fields text[] not null,
    changes jsonb not null,
    created_at timestamptz(3) not null
  )`,
  'create index audit_events_by_workspace on audit_events (workspace_id, created_at desc, id desc)',
  'create index audit_events_by_actor on audit_events (workspace_id, actor_id, created_at desc, id desc)',
  'create index audit_events_by_action on audit_events (workspace_id, action, created_at desc, id desc)',
  'create index audit_events_by_type on audit_events (workspace_id, resource_type, created_at desc, id desc)',
  'create index audit_events_by_resource on audit_events (workspace_id, resource_id, created_at desc, id desc)',
  // Of an expression, so that no page is read from it: PostgreSQL would read the events of all workspaces for a page of one.
  `create index audit_events_by_age on audit_events ((created_at at time zone 'UTC'))`,
  ...AUDIT,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of EXTENSIONS) await sql`create extension if not exists ${sql.id(name)}`.execute(db);
  for (const statement of TABLES) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  const names = TABLES.flatMap((statement) => /^create (?:unlogged )?table (\w+)/.exec(statement)?.[1] ?? []);
  for (const name of names.toReversed()) await sql`drop table ${sql.table(name)}`.execute(db);
  for (const name of ['place_event', 'record_change', 'new_audit_event_id', 'refuse_change_of_audit']) {
    await sql`drop function ${sql.id(name)}`.execute(db);
  }
  for (const name of EXTENSIONS) await sql`drop extension ${sql.id(name)}`.execute(db);
}
