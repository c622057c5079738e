import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table engines (
    id text primary key,
    host text not null,
    port integer not null,
    state text not null check (state in ('working', 'stopping')),
    roles text[] not null,
    version text not null,
    node_version text not null,
    ffmpeg_version text,
    slots integer not null,
    slots_busy integer not null,
    uploads integer not null,
    imports integer not null,
    disk_free_bytes bigint,
    started_at timestamptz(3) not null,
    last_seen_at timestamptz(3) not null
  )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table engines`.execute(db);
}
