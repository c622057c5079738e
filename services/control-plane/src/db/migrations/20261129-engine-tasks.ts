import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // An engine of the previous version does not report its tasks.
  await sql`alter table engines add column tasks integer not null default 0`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table engines drop column tasks`.execute(db);
}
