import type { Actor } from '../db/actor.ts';
import type { Database } from '../db/database.ts';
import { type Page, type PageRequest, toPage } from '../db/keyset-page.ts';
import { CSV_HEADER, csvLineOf } from './audit-csv.ts';
import { type AuditEvent, toAuditEvent } from './audit-event-record.ts';
import { deleteOldAuditEvents, listAuditEvents, recordExport } from './audit-events.store.ts';
import type { AuditFilter } from './audit-filter.ts';

/** Events that an export reads at once, and at most. */
const EXPORTED_AT_ONCE = 1_000;
const EXPORTED_AT_MOST = 100_000;

/** The events that the trigger `record_change` and statements write: who did what and when (ADR 101 and 110). */
export class AuditService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** One page of the workspace's events, newest first. */
  async list(workspaceId: string, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEvent>> {
    const rows = await listAuditEvents(this.#db, workspaceId, filter, page);
    return toPage(rows, page.limit, toAuditEvent);
  }

  /** The newest events as the parts of a CSV file. They are read page by page, so that a slow reader holds no transaction. */
  async *exported(workspaceId: string, filter: AuditFilter): AsyncGenerator<string, void> {
    yield CSV_HEADER;
    let after: PageRequest['after'];
    for (let count = 0; count < EXPORTED_AT_MOST; count += EXPORTED_AT_ONCE) {
      const found = await listAuditEvents(this.#db, workspaceId, filter, { after, limit: EXPORTED_AT_ONCE });
      const rows = found.slice(0, EXPORTED_AT_ONCE);
      yield rows.map((row) => csvLineOf(toAuditEvent(row))).join('');
      const last = rows.at(-1);
      if (last === undefined || found.length <= EXPORTED_AT_ONCE) return;
      after = { createdAt: last.created_at, id: last.id };
    }
  }

  /** Records that somebody exports the events. */
  recordExport(workspaceId: string, actor: Actor): Promise<void> {
    return recordExport(this.#db, workspaceId, actor);
  }

  /** Deletes the events whose time is over. */
  async prune(): Promise<void> {
    while ((await deleteOldAuditEvents(this.#db)) > 0);
  }
}
