import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_endpoints (
      id text primary key,
      workspace_id text not null references workspaces,
      url text not null,
      description text,
      events text[] not null
        constraint events_are_known check (events <@ array['video.ready', 'video.failed', 'video.deleted'] and events <> '{}'),
      enabled boolean not null,
      disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
      secret text not null,
      previous_secret text,
      previous_secret_expires_at timestamptz(3),
      consecutive_failures int not null default 0,
      failing_since timestamptz(3),
      last_attempt_at timestamptz(3),
      leased_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint disabled_for_a_reason check (enabled = (disabled_reason is null)),
      constraint previous_secret_expires check (
        (previous_secret is null) = (previous_secret_expires_at is null)
      ),
      constraint failures_began_at_some_time check ((consecutive_failures > 0) = (failing_since is not null))
    )`.execute(db);
  await sql`
    create index webhook_endpoints_by_workspace on webhook_endpoints
    (workspace_id, created_at desc, id desc)`.execute(db);

  await sql`
    create table webhook_events (
      id text primary key,
      workspace_id text not null references workspaces,
      type text not null,
      payload text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db);
  await sql`create index webhook_events_by_age on webhook_events (created_at)`.execute(db);

  await sql`
    create table webhook_deliveries (
      id text primary key,
      endpoint_id text not null references webhook_endpoints on delete cascade,
      event_id text not null references webhook_events on delete cascade,
      status text not null default 'pending'
        check (status in ('pending', 'retrying', 'succeeded', 'failed')),
      attempts int not null default 0,
      failures int not null default 0,
      next_attempt_at timestamptz(3),
      last_attempt_at timestamptz(3),
      response_status int,
      failure text,
      created_at timestamptz(3) not null default now(),
      constraint an_event_is_delivered_once unique (event_id, endpoint_id),
      constraint open_has_a_next_attempt check (
        (status in ('pending', 'retrying')) = (next_attempt_at is not null)
      ),
      constraint attempted_at_some_time check ((attempts > 0) = (last_attempt_at is not null))
    )`.execute(db);
  await sql`
    create index webhook_deliveries_by_endpoint on webhook_deliveries
    (endpoint_id, created_at desc, id desc)`.execute(db);
  await sql`
    create index webhook_deliveries_by_attempt on webhook_deliveries (endpoint_id, last_attempt_at desc)
    where last_attempt_at is not null`.execute(db);
  await sql`
    create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at)
    where next_attempt_at is not null`.execute(db);
  await sql`
    create index webhook_deliveries_overdue on webhook_deliveries (next_attempt_at)
    where next_attempt_at is not null`.execute(db);

  await sql`
    create table webhook_attempts (
      delivery_id text not null references webhook_deliveries on delete cascade,
      number int not null check (number > 0),
      at timestamptz(3) not null,
      duration_ms int not null,
      response_status int,
      failure text,
      primary key (delivery_id, number)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['webhook_attempts', 'webhook_deliveries', 'webhook_events', 'webhook_endpoints']) {
    await sql`drop table ${sql.table(table)}`.execute(db);
  }
}
