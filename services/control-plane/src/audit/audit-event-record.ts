import type { components } from '@framelane/openapi/types';
import type { AuditEventRow } from '../db/schema.ts';

export type AuditEvent = components['schemas']['AuditEvent'];

/** An event as the API returns it. Fields have the names of the API. */
export function toAuditEvent(row: AuditEventRow): AuditEvent {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    operation: row.operation,
    requestId: row.request_id,
    action: row.action,
    resource: { type: row.resource_type, id: row.resource_id, part: row.resource_part },
    fields: row.fields.map(camelCase),
    changes: Object.entries(row.changes).map(([column, [from, to]]) => ({
      field: camelCase(column),
      from,
      to,
    })),
  };
}

/** `playback_policy` → `playbackPolicy`. */
function camelCase(column: string): string {
  return column.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
