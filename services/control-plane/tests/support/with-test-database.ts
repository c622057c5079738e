import { afterAll, beforeAll } from '@jest/globals';
import type { Database } from '../../src/db/database.ts';
import { insertWorkspace, openTestDatabase } from './database.ts';

/** Gives the tests of a file a database of their own, with a workspace. They need no control plane. */
export function withTestDatabase(use: (opened: { db: Database; workspaceId: string }) => void): void {
  let close: () => Promise<void>;
  beforeAll(async () => {
    const opened = await openTestDatabase();
    close = opened.close;
    use({ db: opened.db, workspaceId: await insertWorkspace(opened.db) });
  });
  afterAll(() => close());
}
