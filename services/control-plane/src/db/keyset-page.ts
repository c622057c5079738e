import { type SelectQueryBuilder, sql } from 'kysely';

/** Where the next page begins: just after this row in (createdAt, id) order. */
export type Position = { createdAt: Date; id: string };

/** One page of a list, as the API returns it. */
export type Page<T> = { data: T[]; nextCursor: string | null; hasMore: boolean };

/** A page of a list: up to `limit` rows after a position, newest first by default. */
export type PageRequest = { after: Position | undefined; limit: number; order?: 'asc' | 'desc' };

/**
 * Limits a query to one page and the row after it, in (created_at, id) order of the table; `toPage` makes the page. Keyset
 * paging: a page begins where the previous one ended, even if rows were inserted meanwhile, and with an index the last page
 * costs as much as the first.
 */
export function keysetPage<DB, TB extends keyof DB & string, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  table: TB,
  { after, limit, order = 'desc' }: PageRequest,
): SelectQueryBuilder<DB, TB, O> {
  const [createdAt, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)];
  const page = query
    .orderBy(createdAt, order)
    .orderBy(id, order)
    .limit(limit + 1);
  if (after === undefined) return page;
  const beyond = order === 'desc' ? sql`<` : sql`>`;
  return page.where(sql<boolean>`(${createdAt}, ${id}) ${beyond} (${after.createdAt}, ${after.id})`);
}

/** Makes a page from the rows of `keysetPage`; the row after the page only shows that there are more. */
export function toPage<R extends { id: string; created_at: Date }, T>(
  rows: readonly R[],
  limit: number,
  toItem: (row: R) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(toItem),
    nextCursor: hasMore && last !== undefined ? cursorAfter(last) : null,
    hasMore,
  };
}

function cursorAfter({ id, created_at }: { id: string; created_at: Date }): string {
  return Buffer.from(JSON.stringify([created_at.toISOString(), id])).toString('base64url');
}
