import { type SelectQueryBuilder, sql } from 'kysely';
import type { Position } from '../http/pagination.ts';

/** The part of a list that is asked for: up to `limit` rows after a position, newest first unless told otherwise. */
export type PageRequest = { after: Position | undefined; limit: number; order?: 'asc' | 'desc' };

/**
 * Takes one page of a query, in (created_at, id) order of the table. By keyset: a page begins where the one before ended,
 * whatever was inserted meanwhile, and with an index for it the last one costs what the first does.
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
