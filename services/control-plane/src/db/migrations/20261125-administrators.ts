import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table console_codes add column administrator boolean not null default false`.execute(db);
  await sql`alter table console_sessions add column administrator boolean not null default false`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table console_sessions drop column administrator`.execute(db);
  await sql`alter table console_codes drop column administrator`.execute(db);
}
