import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table captions (
    video_id text not null references videos (id) on delete cascade,
    language text not null,
    label text not null,
    is_default boolean not null,
    origin text not null check (origin in ('api', 'file')),
    revision int not null,
    bytes int not null check (bytes > 0),
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
  )`.execute(db);
  // Videos of earlier versions begin at 11.4 seconds.
  await sql`alter table videos add column start_timestamp int not null default 1026000`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos drop column start_timestamp`.execute(db);
  await sql`drop table captions`.execute(db);
}
