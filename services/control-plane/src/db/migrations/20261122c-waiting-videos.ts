import { type Kysely, sql } from 'kysely';

/** Finds the video that was sent last among those an engine has claimed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index videos_by_wait on videos (waiting_since desc)
    where waiting_since is not null and deleted_at is null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_wait`.execute(db);
}
