import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos add column waiting_since timestamptz(3)`.execute(db);
  await sql`update videos set waiting_since = command_issued_at where status = 'processing'`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table videos drop column waiting_since`.execute(db);
}
