import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table console_codes (
    code_hash bytea primary key,
    workspace_id text not null references workspaces (id),
    name text not null,
    environment text not null check (environment in ('live', 'test')),
    permissions text[] not null,
    expires_at timestamptz(3) not null
  )`.execute(db);
  await sql`create index console_codes_by_expiry on console_codes (expires_at)`.execute(db);
  await sql`create table console_sessions (
    id text primary key,
    token_hash bytea not null unique,
    workspace_id text not null references workspaces (id),
    name text not null,
    environment text not null check (environment in ('live', 'test')),
    permissions text[] not null,
    user_agent text,
    created_at timestamptz(3) not null default now(),
    last_seen_at timestamptz(3) not null default now(),
    idle_expires_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    constraint idle_expiry_comes_first check (idle_expires_at <= expires_at)
  )`.execute(db);
  await sql`create index console_sessions_by_workspace
    on console_sessions (workspace_id, created_at desc, id desc)`.execute(db);
  await sql`create index console_sessions_by_expiry on console_sessions (idle_expires_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table console_sessions`.execute(db);
  await sql`drop table console_codes`.execute(db);
}
