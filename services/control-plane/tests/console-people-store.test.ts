import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  deleteGrants,
  grantsOf,
  listGrants,
  replaceGrants,
} from '../src/console-people/console-people.store.ts';
import type { Database } from '../src/db/database.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const KIM = 'kim@example.com';
const SAM = 'sam@example.com';

let db: Database;
let workspaces: string[];
withTestDatabase((opened) => {
  ({ db } = opened);
});
beforeAll(async () => {
  workspaces = [await insertWorkspace(db), await insertWorkspace(db)].toSorted();
});
beforeEach(async () => {
  await db.deleteFrom('console_people').execute();
  for (const email of [SAM, KIM]) await grant(email);
});

const grant = (email: string, { administrator = false, in: granted = workspaces } = {}) =>
  replaceGrants(
    db,
    { email, administrator },
    granted.map((workspaceId) => ({ workspaceId, environments: ['live'], permissions: ['videos:read'] })),
  );

const workspacesOf = async (email: string) =>
  (await grantsOf(db, email)).map(({ workspace_id }) => workspace_id).toSorted();

test('people are listed by email address and workspace', async () => {
  const listed = await listGrants(db);
  expect(listed.map(({ email, workspace_id }) => [email, workspace_id])).toEqual(
    [KIM, SAM].flatMap((email) => workspaces.map((workspaceId) => [email, workspaceId])),
  );
});

test('a person becomes an administrator in all workspaces, and nobody else does', async () => {
  await grant(KIM, { administrator: true, in: workspaces.slice(1) });
  const administrators = (await listGrants(db)).filter(({ administrator }) => administrator);
  expect(administrators.map(({ email }) => email)).toEqual([KIM, KIM]);
});

test('the grants of a person are deleted in the given workspaces or in all, and those of nobody else', async () => {
  const [first = '', second] = workspaces;
  expect(await deleteGrants(db, KIM, [first])).toEqual([first]);
  expect([await workspacesOf(KIM), await workspacesOf(SAM)]).toEqual([[second], workspaces]);
  expect(await deleteGrants(db, KIM, undefined)).toEqual([second]);
  expect([await workspacesOf(KIM), await workspacesOf(SAM)]).toEqual([[], workspaces]);
});
