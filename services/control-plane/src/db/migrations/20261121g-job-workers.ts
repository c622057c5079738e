import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table job_workers (
      id text primary key,
      seen_at timestamptz not null
    )`.execute(db);
  await sql`comment on table job_workers is 'When each worker of background jobs was last alive'`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table job_workers`.execute(db);
}
