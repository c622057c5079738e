import { newId } from '@framelane/contracts/ids';
import { expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import { keysetPage, type Position, toPage } from '../src/db/keyset-page.ts';
import { readCursor } from '../src/http/pagination.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
withTestDatabase((opened) => {
  ({ db } = opened);
});

test.each(['asc', 'desc'] as const)(
  'rows are in the order of their times, and with equal times of their ids: %s',
  async (order) => {
    await db.deleteFrom('workspaces').execute();
    const [early, late] = [new Date('2001-01-01'), new Date('2001-01-02')];
    const ids = Array.from({ length: 7 }, () => newId('ws')).toSorted();
    const [lateIds, earlyIds] = [ids.slice(0, 2), ids.slice(2)];
    const rowsAt = (created_at: Date, of: string[]) => of.map((id) => ({ id, name: 'Any', created_at }));
    const oldestFirst = [...rowsAt(early, earlyIds), ...rowsAt(late, lateIds)];
    // Stored in the opposite order, in a table without an index that could provide the order.
    await db
      .insertInto('workspaces')
      .values(order === 'asc' ? oldestFirst.toReversed() : oldestFirst)
      .execute();

    const pages: string[][] = [];
    let after: Position | undefined;
    do {
      const page = { after, limit: 3, order };
      const found = await keysetPage(db.selectFrom('workspaces').selectAll(), 'workspaces', page).execute();
      const { data, nextCursor, hasMore } = toPage(found, 3, ({ id }) => id);
      expect(hasMore).toBe(nextCursor !== null);
      pages.push(data);
      after = nextCursor === null ? undefined : readCursor(nextCursor);
    } while (after !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    const expected = oldestFirst.map(({ id }) => id);
    expect(pages.flat()).toEqual(order === 'asc' ? expected : expected.toReversed());
  },
);
