import { type Kysely, sql } from 'kysely';

/** A code and a session have a row for each workspace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table console_codes
    add column environments text[],
    drop constraint console_codes_pkey,
    add primary key (code_hash, workspace_id)`.execute(db);
  await sql`alter table console_sessions
    add column environments text[],
    drop constraint console_sessions_token_hash_key,
    add unique (token_hash, workspace_id)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  // Only the first workspace stays.
  await sql`delete from console_sessions newer using console_sessions older
    where newer.token_hash = older.token_hash and newer.workspace_id > older.workspace_id`.execute(db);
  await sql`alter table console_sessions
    drop constraint console_sessions_token_hash_workspace_id_key,
    add unique (token_hash),
    drop column environments`.execute(db);
  await sql`delete from console_codes newer using console_codes older
    where newer.code_hash = older.code_hash and newer.workspace_id > older.workspace_id`.execute(db);
  await sql`alter table console_codes
    drop constraint console_codes_pkey,
    add primary key (code_hash),
    drop column environments`.execute(db);
}
