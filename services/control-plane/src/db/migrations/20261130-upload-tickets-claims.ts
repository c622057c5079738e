import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  'alter table upload_tickets add column claim_id text',
  // Bytes of ended transfers that no purge has removed yet.
  'alter table upload_tickets add column undiscarded_bytes bigint not null default 0',
  'create index upload_tickets_undiscarded on upload_tickets (video_id) where undiscarded_bytes > 0',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_tickets drop column claim_id, drop column undiscarded_bytes`.execute(db);
}
