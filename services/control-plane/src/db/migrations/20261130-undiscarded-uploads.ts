import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Bytes of ended transfers that no purge has removed yet.
  await sql`alter table upload_tickets add column undiscarded_bytes bigint not null default 0`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_tickets drop column undiscarded_bytes`.execute(db);
}
