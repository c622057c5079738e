import { sql } from 'kysely';
import { insertAccessEvents } from '../db/access-event.ts';
import type { Actor } from '../db/actor.ts';
import type { Database } from '../db/database.ts';
import { keysetPage, type PageRequest } from '../db/keyset-page.ts';
import type { AuditEventRow } from '../db/schema.ts';
import type { AuditFilter } from './audit-filter.ts';

/** Days for which audit events are kept. The trigger of the table refuses to delete younger ones. */
const KEPT_DAYS = 90;

/** Rows that one statement deletes. */
const BATCH = 5_000;

/** One page of a workspace's events. */
export async function listAuditEvents(
  db: Database,
  workspaceId: string,
  filter: AuditFilter,
  page: PageRequest,
): Promise<AuditEventRow[]> {
  return auditEventsOf(db, workspaceId, filter, page).execute();
}

/** The query of a page. Each filter has an index in the order of the page. */
export function auditEventsOf(db: Database, workspaceId: string, filter: AuditFilter, page: PageRequest) {
  const { actorId, action, resourceType, resourceId, createdAfter, createdBefore } = filter;
  const events = db
    .selectFrom('audit_events')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .$if(actorId !== undefined, (query) => query.where('actor_id', '=', actorId ?? ''))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? 'created'))
    .$if(resourceType !== undefined, (query) => query.where('resource_type', '=', resourceType ?? 'video'))
    .$if(resourceId !== undefined, (query) => query.where('resource_id', '=', resourceId ?? ''))
    .$if(createdAfter !== undefined, (query) => query.where('created_at', '>=', createdAfter ?? new Date()))
    .$if(createdBefore !== undefined, (query) => query.where('created_at', '<', createdBefore ?? new Date()));
  return keysetPage(events, 'audit_events', page);
}

/** Deletes some events whose time is over. Resolves with their number; 0 when none is left. */
export async function deleteOldAuditEvents(db: Database): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('audit_events')
    .where('id', 'in', oldAuditEvents(db))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** The query of the oldest events whose time is over, by the expression of their index. */
export function oldAuditEvents(db: Database) {
  return db
    .selectFrom('audit_events')
    .select('id')
    .where(
      sql<boolean>`created_at at time zone 'UTC' < (now() - make_interval(days => ${KEPT_DAYS})) at time zone 'UTC'`,
    )
    .orderBy(sql`created_at at time zone 'UTC'`)
    .limit(BATCH);
}

/** Records an export of the audit log. */
export async function recordExport(db: Database, workspaceId: string, actor: Actor): Promise<void> {
  await insertAccessEvents({
    workspace_id: sql`${workspaceId}::text`,
    actor_type: sql`${actor.type}::text`,
    actor_id: sql`${actor.id}::text`,
    actor_name: sql`${actor.name}::text`,
    resource_type: sql`'audit_log'`,
    resource_id: sql`${workspaceId}::text`,
    fields: sql`'{}'::text[]`,
    action: sql`'exported'`,
    operation: sql`${actor.operation}::text`,
    request_id: sql`${actor.requestId}::text`,
  }).execute(db);
}
