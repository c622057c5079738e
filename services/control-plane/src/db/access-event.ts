import { type RawBuilder, sql } from 'kysely';

/** Columns of an event that is no change: first those of who and what, in the order of the statements that write it, then those of `accessValues`. */
export const ACCESS_COLUMNS = sql`(
  workspace_id, actor_id, actor_type, actor_name, resource_type, resource_id, fields, action, operation, request_id,
  id, changes, created_at
)`;

/** The values of the last columns, from `action` on. */
export function accessValues(
  action: string,
  operation: RawBuilder<string>,
  requestId: string | null,
): RawBuilder<unknown> {
  return sql`${sql.lit(action)}, ${operation}, ${requestId}::text, new_audit_event_id(), '{}'::jsonb, clock_timestamp()`;
}
