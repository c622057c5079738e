import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // The id that the engine has chosen for its claim. Engines of earlier versions send none.
  'alter table attempts add column claim_id text, add column heard boolean not null default false',
  `alter table tasks add column claim_id text, add column heard boolean not null default false,
    add column unheard_tries int not null default 0`,
  'alter table imports add column claim_id text',
  'create index imports_by_claim on imports (claim_id) where claim_id is not null',
  'alter table upload_tickets add column claim_id text',
  'alter table resumable_uploads add column claim_id text',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table resumable_uploads drop column claim_id`.execute(db);
  await sql`alter table upload_tickets drop column claim_id`.execute(db);
  await sql`alter table imports drop column claim_id`.execute(db);
  await sql`alter table tasks drop column claim_id, drop column heard, drop column unheard_tries`.execute(db);
  await sql`alter table attempts drop column claim_id, drop column heard`.execute(db);
}
