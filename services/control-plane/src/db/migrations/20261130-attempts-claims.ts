import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The id that the engine has chosen for its claim. Engines of earlier versions send none.
  await sql`alter table attempts add column claim_id text, add column heard boolean not null default false`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempts drop column claim_id, drop column heard`.execute(db);
}
