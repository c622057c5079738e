import { type SelectQueryBuilder, sql } from 'kysely';
import type { Position } from '../http/pagination.ts';

/** A page of a list: up to `limit` rows after a position, newest first by default. */
export type PageRequest = { after: Position | undefined; limit: number; order?: 'asc' | 'desc' };

/**
 * Limits a query to one page, in (created_at, id) order of the table. Keyset paging: a page begins where the previous one
 * ended, whatever was inserted meanwhile, and with an index the last page costs as much as the first.
 */
export function keysetPage<DB, TB extends keyof DB & string, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  table: TB,
  { after, limit, order = 'desc' }: PageRequest,
): SelectQueryBuilder<DB, TB, O> {
  const [createdAt, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)];
  const page = query.orderBy(createdAt, order).orderBy(id, order).limit(limit);
  if (after === undefined) return page;
  const beyond = order === 'desc' ? sql`<` : sql`>`;
  return page.where(sql<boolean>`(${createdAt}, ${id}) ${beyond} (${after.createdAt}, ${after.id})`);
}
