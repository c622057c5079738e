import { type RawBuilder, sql } from 'kysely';

/** An event that is no change: its values by column, as expressions. */
export type AccessEvent = Record<
  | ('workspace_id' | 'actor_type' | 'actor_id' | 'actor_name' | 'operation' | 'request_id')
  | ('action' | 'resource_type' | 'resource_id' | 'fields'),
  RawBuilder<unknown>
>;

/** The part of a statement that inserts an event for each row of `from`, e.g. `from ended`; one event by default. */
export function insertAccessEvents(
  event: AccessEvent,
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const values = {
    ...event,
    id: sql`new_audit_event_id()`,
    changes: sql`'{}'::jsonb`,
    created_at: sql`clock_timestamp()`,
  };
  const columns = Object.keys(values).map((column) => sql.ref(column));
  return sql`insert into audit_events (${sql.join(columns)}) select ${sql.join(Object.values(values))} ${from}`;
}
