import { sql } from 'kysely';
import { ACCESS_COLUMNS, accessValues } from '../db/access-event.ts';
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
    .where('id', 'in', (query) =>
      query
        .selectFrom('audit_events')
        .select('id')
        .where('created_at', '<', sql<Date>`now() - make_interval(days => ${KEPT_DAYS})`)
        .limit(BATCH),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Records an export of the audit log. */
export async function recordExport(db: Database, workspaceId: string, actor: Actor): Promise<void> {
  await sql`insert into audit_events ${ACCESS_COLUMNS}
    select ${workspaceId}, ${actor.id}, ${actor.type}, ${actor.name}, 'audit_log', ${workspaceId}, '{}'::text[],
      ${accessValues('exported', sql.lit(actor.operation), actor.requestId)}`.execute(db);
}
