import { z } from 'zod';
import { invalidField } from './problems.ts';

/** Where the next page begins: just after this row in (createdAt, id) order. */
export type Position = { createdAt: Date; id: string };

/** One page of a list, as every list of the API answers. */
export type Page<T> = { data: T[]; nextCursor: string | null; hasMore: boolean };

const cursorContent = z.tuple([z.iso.datetime(), z.string().regex(/^\w{1,64}$/)]);

/** Reads an opaque cursor. Throws a 400 Problem when it is not one of ours. */
export function readCursor(cursor: string): Position {
  try {
    const [createdAt, id] = cursorContent.parse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    return { createdAt: new Date(createdAt), id };
  } catch {
    throw invalidField('query/cursor', 'invalid', 'is not a nextCursor of this list');
  }
}

/**
 * Makes a page from up to `limit + 1` rows: the extra one only tells that there is more. `link` is the value of the
 * Link header (RFC 8288), or null on the last page.
 */
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
    nextCursor:
      hasMore && last !== undefined
        ? Buffer.from(JSON.stringify([last.created_at.toISOString(), last.id])).toString('base64url')
        : null,
    hasMore,
  };
}

/** The Link header to the next page: the same request with the cursor put in. `publicUrl` may end in a path of its own. */
export function nextLink(publicUrl: string, originalUrl: string, nextCursor: string): string {
  const url = new URL(`${publicUrl}${originalUrl}`);
  url.searchParams.set('cursor', nextCursor);
  return `<${url.href}>; rel="next"`;
}
