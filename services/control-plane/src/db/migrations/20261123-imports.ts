import { type Kysely, sql } from 'kysely';

/** Files that engines fetch from URLs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table imports (
    video_id text primary key references videos on delete cascade,
    shown_url text not null,
    request text,
    deadline timestamptz(3) not null,
    due_at timestamptz(3),
    claimed_until timestamptz(3),
    transfer_id text,
    bytes bigint not null default 0,
    total_bytes bigint,
    tries int not null default 0,
    next_try_at timestamptz(3),
    failure text,
    started_over boolean not null default false,
    constraint due_or_erased check ((due_at is null) = (request is null))
  )`.execute(db);
  await sql`create index imports_due on imports (due_at) where due_at is not null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table imports`.execute(db);
}
