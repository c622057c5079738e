import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // Progress of a resumable upload moves the expiry of its ticket by `extension_seconds`, up to `latest_expires_at`.
  'alter table upload_tickets add column extension_seconds int, add column latest_expires_at timestamptz(3)',
  `create table resumable_uploads (
    transfer_id text primary key,
    video_id text not null references upload_tickets on delete cascade,
    length bigint not null check (length > 0),
    metadata text not null,
    epoch int not null default 0,
    checkpoint jsonb,
    ended_at timestamptz(3),
    end_reason text check (end_reason in ('completed', 'terminated', 'superseded')),
    constraint ended_has_a_reason check ((ended_at is null) = (end_reason is null))
  )`,
  // At most one upload of a ticket can be continued.
  'create unique index resumable_uploads_unfinished on resumable_uploads (video_id) where ended_at is null',
  'create index resumable_uploads_by_video on resumable_uploads (video_id)',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table resumable_uploads`.execute(db);
  await sql`alter table upload_tickets drop column extension_seconds, drop column latest_expires_at`.execute(
    db,
  );
}
