import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../db/actor.ts';
import type { Database } from '../db/database.ts';

/** Columns of the audit log in the order of the statements here. They change no field. */
const COLUMNS = sql`(
  workspace_id, actor_id, actor_type, actor_name, resource_type, resource_id, fields, action, operation, request_id,
  id, changes, created_at
)`;

/** The values of the last columns. */
function access(
  action: string,
  operation: RawBuilder<string>,
  requestId: string | null,
): RawBuilder<unknown> {
  return sql`${sql.lit(action)}, ${operation}, ${requestId}::text, new_audit_event_id(), '{}'::jsonb, clock_timestamp()`;
}

/** A session as the actor and the resource of an event. */
const SESSION = sql`workspace_id, id, case when person_email is null then 'link' else 'person' end, name, 'session', id, '{}'::text[]`;

/** Records the sign-in to the session with this hash, in each of its workspaces. */
export async function recordSignIns(trx: Database, tokenHash: Buffer, requestId: string): Promise<void> {
  const operation = sql<string>`case when person_email is null then 'createConsoleSession' else 'openIdSignIn' end`;
  await sql`insert into audit_events ${COLUMNS}
    select ${SESSION}, ${access('signed_in', operation, requestId)} from console_sessions where token_hash = ${tokenHash}`.execute(
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
    insert into audit_events ${COLUMNS}
    select ${SESSION}, ${access('signed_out', sql.lit('deleteConsoleSession'), requestId)} from ended`.execute(
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
    insert into audit_events ${COLUMNS}
    select workspace_id, null, 'link', name, 'sign_in_link', name,
      array[case when used_at is null then 'expires_at' else 'used_at' end],
      ${access('refused', sql.lit('createConsoleSession'), requestId)}
    from refused`.execute(db);
}

/** Records an export of the audit log. */
export async function recordExport(db: Database, workspaceId: string, actor: Actor): Promise<void> {
  await sql`insert into audit_events ${COLUMNS}
    select ${workspaceId}, ${actor.id}, ${actor.type}, ${actor.name}, 'audit_log', ${workspaceId}, '{}'::text[],
      ${access('exported', sql.lit(actor.operation), actor.requestId)}`.execute(db);
}
