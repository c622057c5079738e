import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_tickets add column announced_bytes bigint`.execute(db);
  await sql`
    create index upload_tickets_under_way on upload_tickets (lease_expires_at)
    where transfer_id is not null and used_at is null`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index upload_tickets_under_way`.execute(db);
  await sql`alter table upload_tickets drop column announced_bytes`.execute(db);
}
