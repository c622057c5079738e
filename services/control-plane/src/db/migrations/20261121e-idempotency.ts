import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_keys (
      workspace_id text not null references workspaces,
      key_hash bytea not null,
      payload_hash bytea not null,
      leased_until timestamptz(3),
      status int,
      location text,
      body json,
      created_at timestamptz(3) not null default now(),
      primary key (workspace_id, key_hash),
      constraint leased_or_answered check ((leased_until is null) = (status is not null)),
      constraint an_answer_has_a_body check ((status is null) = (body is null))
    )`.execute(db);
  await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table idempotency_keys`.execute(db);
}
