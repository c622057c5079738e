import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos
    add column in_one_run boolean not null default false,
    add column image_folder text not null default '',
    add column preview_variants text[]`.execute(db);
  await sql`alter table attempts add column plan jsonb, add column source_sha256 text`.execute(db);
  await sql`alter table renditions
    add column part_starts integer[] not null default '{0}',
    add column part_folders text[] not null default '{""}'`.execute(db);
  await sql`create table tasks (
    video_id text not null,
    attempt integer not null,
    number integer not null check (number >= 0),
    kind text not null check (kind in ('piece', 'passthrough', 'audio', 'images')),
    frames integer not null check (frames > 0),
    progress real not null default 0 check (progress between 0 and 1),
    tries integer not null default 0,
    failed_tries integer not null default 0,
    due_at timestamptz(3) not null default now(),
    command_due_at timestamptz(3),
    command_claimed_until timestamptz(3),
    command_published_at timestamptz(3),
    lease_expires_at timestamptz(3),
    started_at timestamptz(3),
    started_renditions jsonb not null default '{}',
    result jsonb,
    primary key (video_id, attempt, number),
    foreign key (video_id, attempt) references attempts (video_id, number) on delete cascade,
    constraint done_has_no_lease check (result is null or lease_expires_at is null)
  )`.execute(db);
  await sql`create index tasks_by_command on tasks (command_due_at) where command_due_at is not null`.execute(
    db,
  );
  await sql`create index tasks_by_publication on tasks (command_published_at)
    where command_published_at is not null`.execute(db);
  await sql`create index tasks_by_lease on tasks (lease_expires_at) where lease_expires_at is not null`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table tasks`.execute(db);
  // The lease of an attempt with tasks is infinite, so the previous version would never end the attempt. 30 s is the default of
  // ATTEMPT_LEASE_SECONDS.
  await sql`update attempts set lease_expires_at = started_at + interval '30 seconds'
    where lease_expires_at = 'infinity'`.execute(db);
  await sql`alter table renditions drop column part_starts, drop column part_folders`.execute(db);
  await sql`alter table attempts drop column plan, drop column source_sha256`.execute(db);
  await sql`alter table videos drop column in_one_run, drop column image_folder,
    drop column preview_variants`.execute(db);
}
