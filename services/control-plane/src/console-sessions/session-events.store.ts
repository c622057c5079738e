import { sql } from 'kysely';
import { ACCESS_COLUMNS, accessValues } from '../db/access-event.ts';
import type { Database } from '../db/database.ts';

/** A session as the actor and the resource of an event. */
const SESSION = sql`workspace_id, id, case when person_email is null then 'link' else 'person' end, name, 'session', id, '{}'::text[]`;

/** Records the sign-in to the session with this hash, in each of its workspaces. */
export async function recordSignIns(trx: Database, tokenHash: Buffer, requestId: string): Promise<void> {
  const operation = sql<string>`case when person_email is null then 'createConsoleSession' else 'openIdSignIn' end`;
  await sql`insert into audit_events ${ACCESS_COLUMNS}
    select ${SESSION}, ${accessValues('signed_in', operation, requestId)} from console_sessions where token_hash = ${tokenHash}`.execute(
    trx,
  );
}

/**
 * Deletes the session with this hash in all its workspaces, and records it. One statement outside of a transaction: a transaction would have an actor, and
 * the trigger would record the deletion once more.
 */
export async function signOut(db: Database, tokenHash: Buffer, requestId: string): Promise<void> {
  await sql`
    with ended as (delete from console_sessions where token_hash = ${tokenHash} returning *)
    insert into audit_events ${ACCESS_COLUMNS}
    select ${SESSION}, ${accessValues('signed_out', sql.lit('deleteConsoleSession'), requestId)} from ended`.execute(
    db,
  );
}

/**
 * Records that a sign-in link was refused, because it was used before or has expired. Only the first time, so that nobody can fill the log. An unknown code
 * has no workspace whose log could have it.
 */
export async function refuseCode(db: Database, codeHash: Buffer, requestId: string): Promise<void> {
  await sql`
    with refused as (
      update console_codes set refused_at = now() where code_hash = ${codeHash} and refused_at is null returning *
    )
    insert into audit_events ${ACCESS_COLUMNS}
    select workspace_id, null, 'link', name, 'sign_in_link', name,
      array[case when used_at is null then 'expires_at' else 'used_at' end],
      ${accessValues('refused', sql.lit('createConsoleSession'), requestId)}
    from refused`.execute(db);
}
