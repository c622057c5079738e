import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await restrictOutcomes(db, ['completed', 'failed', 'lease_expired', 'handed_back', 'video_deleted']);
  await sql`
    update attempts set outcome = 'video_deleted', finished_at = now()
    where outcome is null and video_id in (select id from videos where deleted_at is not null)`.execute(db);
  await sql`
    create index videos_by_wait on videos (waiting_since desc)
    where waiting_since is not null and deleted_at is null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index videos_by_wait`.execute(db);
  await sql`update attempts set outcome = 'handed_back' where outcome = 'video_deleted'`.execute(db);
  await restrictOutcomes(db, ['completed', 'failed', 'lease_expired', 'handed_back']);
}

async function restrictOutcomes(db: Kysely<unknown>, outcomes: string[]): Promise<void> {
  const list = sql.join(outcomes.map((outcome) => sql.lit(outcome)));
  await sql`
    alter table attempts
      drop constraint attempts_outcome_check,
      add constraint attempts_outcome_check check (outcome in (${list}))`.execute(db);
}
