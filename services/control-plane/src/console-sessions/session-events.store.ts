import { sql } from 'kysely';
import { insertAccessEvents } from '../db/access-event.ts';
import type { Database } from '../db/database.ts';

/** A session as the actor and the resource of an event. */
const SESSION = {
  workspace_id: sql`workspace_id`,
  actor_type: sql`case when person_email is null then 'link' else 'person' end`,
  actor_id: sql`id`,
  actor_name: sql`name`,
  resource_type: sql`'session'`,
  resource_id: sql`id`,
  fields: sql`'{}'::text[]`,
};

/** Records the sign-in to the session with this hash, in each of its workspaces. */
export async function recordSignIns(trx: Database, tokenHash: Buffer, requestId: string): Promise<void> {
  const signIn = {
    ...SESSION,
    action: sql`'signed_in'`,
    operation: sql`case when person_email is null then 'createConsoleSession' else 'openIdSignIn' end`,
    request_id: sql`${requestId}::text`,
  };
  await insertAccessEvents(signIn, sql`from console_sessions where token_hash = ${tokenHash}`).execute(trx);
}

/**
 * Deletes the session with this hash in all its workspaces, and records it. One statement outside of a transaction: a transaction would have an actor, and
 * the trigger would record the deletion once more.
 */
export async function signOut(db: Database, tokenHash: Buffer, requestId: string): Promise<void> {
  const event = {
    ...SESSION,
    action: sql`'signed_out'`,
    operation: sql`'deleteConsoleSession'`,
    request_id: sql`${requestId}::text`,
  };
  await sql`
    with ended as (delete from console_sessions where token_hash = ${tokenHash} returning *)
    ${insertAccessEvents(event, sql`from ended`)}`.execute(db);
}

/**
 * Records that a sign-in link was refused, because it was used before or has expired. Only the first time, so that nobody can fill the log. An unknown code
 * has no workspace whose log could have it.
 */
export async function refuseCode(db: Database, codeHash: Buffer, requestId: string): Promise<void> {
  const event = {
    workspace_id: sql`workspace_id`,
    actor_type: sql`'link'`,
    actor_id: sql`null`,
    actor_name: sql`name`,
    resource_type: sql`'sign_in_link'`,
    resource_id: sql`name`,
    fields: sql`array[case when used_at is null then 'expires_at' else 'used_at' end]`,
    action: sql`'refused'`,
    operation: sql`'createConsoleSession'`,
    request_id: sql`${requestId}::text`,
  };
  await sql`
    with refused as (
      update console_codes set refused_at = now() where code_hash = ${codeHash} and refused_at is null returning *
    )
    ${insertAccessEvents(event, sql`from refused`)}`.execute(db);
}
