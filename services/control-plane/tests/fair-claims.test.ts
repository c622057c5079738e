import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { claimDueCommands } from '../src/attempts/commands.store.ts';
import type { Database } from '../src/db/database.ts';
import { claimDueImport, findOtherWaiting } from '../src/imports/imports.store.ts';
import { claimDueTaskCommands } from '../src/tasks/task-commands.store.ts';
import { storeAttempt } from '../src/videos/video-lifecycle.store.ts';
import { MOVES } from '../src/videos/video-moves.ts';
import { claimDueDeliveries } from '../src/webhooks/deliveries.store.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const LEASE = { leaseSeconds: 600 };
const BUSY = 30;
const QUEUE = 4;

let db: Database;
let busy: string;
let quiet: string;
withTestDatabase((opened) => {
  ({ db, workspaceId: busy } = opened);
});
beforeEach(async () => {
  quiet = await insertWorkspace(db);
});

/** Inserts `count` processing videos of a workspace. Their numbers are the order in which they are due. */
async function videos(workspaceId: string, count: number): Promise<void> {
  await sql`
    insert into videos (id, workspace_id, environment, title, filename, status, uploaded_at, source_key, size, waiting_since, command_due_at)
    select ${newId('vid')} || n, ${workspaceId}, 'live', 'Any', 'any.mp4', 'processing', now(), 'any', 1, now(),
      now() - interval '1 hour' + n * interval '1 second'
    from generate_series(1, ${count}::int) n`.execute(db);
}

async function clear(): Promise<void> {
  for (const table of [
    'tasks',
    'attempts',
    'imports',
    'videos',
    'webhook_endpoints',
    'webhook_events',
  ] as const)
    await db.deleteFrom(table).execute();
}

/** For each kind of slot: inserts due rows of a workspace, and claims some. Resolves with the workspaces of the claimed ones. */
const KINDS: Record<
  string,
  {
    insert: (workspaceId: string, count: number) => Promise<void>;
    claim: (limit: number, on?: Database) => Promise<string[]>;
  }
> = {
  imports: {
    insert: async (workspaceId, count) => {
      await videos(workspaceId, count);
      await sql`
        insert into imports (video_id, workspace, shown_url, request, deadline, due_at)
        select id, workspace_id, 'any', 'sealed', now() + interval '1 day', command_due_at from videos
        where workspace_id = ${workspaceId}`.execute(db);
    },
    claim: async (limit, on = db) => {
      const claims = await Promise.all(
        Array.from({ length: limit }, () => claimDueImport(on, LEASE, 'ended')),
      );
      return workspacesOf(claims.flatMap((claimed) => claimed?.videoId ?? []));
    },
  },
  'whole videos': {
    insert: videos,
    claim: async (limit, on = db) =>
      (await claimDueCommands(on, { ...LEASE, limit, perWorkspace: QUEUE })).map(
        (claimed) => claimed.workspaceId,
      ),
  },
  tasks: {
    insert: async (workspaceId, count) => {
      await videos(workspaceId, count);
      await sql`insert into attempts (video_id, number, lease_expires_at)
        select id, 1, 'infinity' from videos where workspace_id = ${workspaceId}`.execute(db);
      await sql`
        insert into tasks (video_id, workspace, attempt, number, kind, frames, command_due_at)
        select id, workspace_id, 1, 0, 'audio', 1, command_due_at from videos
        where workspace_id = ${workspaceId}`.execute(db);
    },
    claim: async (limit, on = db) =>
      (await claimDueTaskCommands(on, { ...LEASE, limit, perWorkspace: QUEUE })).map(
        (claimed) => claimed.workspaceId,
      ),
  },
  'webhook deliveries': {
    // Each delivery has an endpoint of its own, as if all endpoints hung.
    insert: async (workspaceId, count) => {
      const prefix = newId('evt');
      await sql`
        insert into webhook_events (id, workspace_id, type, payload) values (${prefix}, ${workspaceId}, 'video.ready', '{}')`.execute(
        db,
      );
      await sql`
        insert into webhook_endpoints (id, workspace_id, url, events, enabled, secret)
        select ${prefix} || n, ${workspaceId}, 'https://any.example', '{video.ready}', true, 'sealed'
        from generate_series(1, ${count}::int) n`.execute(db);
      await sql`
        insert into webhook_deliveries (id, endpoint_id, event_id, next_attempt_at)
        select ${prefix} || n, ${prefix} || n, ${prefix}, now() - interval '1 hour' + n * interval '1 second'
        from generate_series(1, ${count}::int) n`.execute(db);
    },
    claim: async (limit) => {
      const claimed = await claimDueDeliveries(db, { ...LEASE, limit, perEndpoint: 10 });
      const endpoints = db.selectFrom('webhook_endpoints').select(['id', 'workspace_id']);
      const owners = new Map((await endpoints.execute()).map((row) => [row.id, row.workspace_id]));
      return claimed.map((delivery) => owners.get(delivery.endpoint_id) ?? '');
    },
  },
};

async function workspacesOf(videoIds: string[]): Promise<string[]> {
  const rows = await db.selectFrom('videos').select(['id', 'workspace_id']).execute();
  const owners = new Map(rows.map((row) => [row.id, row.workspace_id]));
  return videoIds.map((id) => owners.get(id) ?? '');
}

/** The rows of a table that this connection has read. */
async function rowsRead(trx: Database, table: string): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = ${table}`.execute(
    trx,
  );
  return rows[0]?.read ?? 0;
}

const countOf = (claimed: string[], workspaceId: string) => claimed.filter((id) => id === workspaceId).length;

describe.each(Object.entries(KINDS))('slots for %s', (_, { insert, claim }) => {
  beforeEach(clear);

  test('go to the workspace with the fewest first, although another has waited longer', async () => {
    await insert(busy, BUSY);
    expect(countOf(await claim(2), busy)).toBe(2);
    await insert(quiet, 3);
    // The quiet workspace catches up; then they take turns.
    expect(countOf(await claim(2), quiet)).toBe(2);
    expect(countOf(await claim(2), quiet)).toBe(1);
  });

  test('are shared equally by claims at the same time', async () => {
    await insert(busy, BUSY);
    await insert(quiet, BUSY);
    const claimed = (await Promise.all(Array.from({ length: 4 }, () => claim(1)))).flat();
    expect([countOf(claimed, busy), countOf(claimed, quiet)]).toEqual([2, 2]);
  });
});

describe('the queue of commands', () => {
  beforeEach(clear);

  test.each(['whole videos', 'tasks'])('holds few %s of one workspace', async (kind) => {
    const { insert, claim } = KINDS[kind] as (typeof KINDS)[string];
    await insert(busy, BUSY);
    expect(await claim(10)).toHaveLength(QUEUE);
    // As if they were published.
    const published = sql`command_due_at = null, command_claimed_until = null, command_published_at = now()`;
    for (const table of ['videos', 'tasks'])
      await sql`update ${sql.table(table)} set ${published} where command_claimed_until is not null`.execute(
        db,
      );
    expect(await claim(10)).toEqual([]);
    await insert(quiet, 1);
    expect(await claim(10)).toEqual([quiet]);
  });
});

describe('with many rows that are due at the same time', () => {
  const ROWS = 2000;
  beforeEach(clear);

  test.each([
    ['imports', 'imports', 'due_at'],
    ['whole videos', 'videos', 'command_due_at'],
    ['tasks', 'tasks', 'command_due_at'],
  ])('a claim of %s reads few of them', async (kind, table, due) => {
    const { insert, claim } = KINDS[kind] as (typeof KINDS)[string];
    await insert(busy, ROWS);
    await sql`update ${sql.table(table)} set ${sql.ref(due)} = now() - interval '2 hours'`.execute(db);
    await sql`analyze ${sql.table(table)}`.execute(db);
    // The statistics know only one workspace.
    await insert(quiet, 1);
    for (const workspaceId of [busy, quiet]) {
      await db.transaction().execute(async (trx) => {
        const before = await rowsRead(trx, table);
        expect(await claim(1, trx)).toEqual([workspaceId]);
        expect((await rowsRead(trx, table)) - before).toBeLessThan(50);
      });
    }
  });
});

test('a claim of a command reads few of the videos that engines work on', async () => {
  await clear();
  await videos(busy, 2000);
  const claimed = sql`command_due_at = null, command_published_at = now()`;
  await sql`update videos set ${claimed}`.execute(db);
  await sql`insert into attempts (video_id, number, lease_expires_at) select id, 1, 'infinity' from videos`.execute(
    db,
  );
  for (const { id } of await db.selectFrom('videos').select('id').execute())
    await storeAttempt(db, id, MOVES.beginAttempt, 1, 'sealed');
  await videos(busy, 1);
  await sql`analyze videos`.execute(db);
  await db.transaction().execute(async (trx) => {
    const before = await rowsRead(trx, 'videos');
    expect(await claimDueCommands(trx, { ...LEASE, limit: 1, perWorkspace: QUEUE })).toHaveLength(1);
    expect((await rowsRead(trx, 'videos')) - before).toBeLessThan(50);
  });
});

test('an import waits for a slot also while a transaction has locked its row', async () => {
  await clear();
  const { insert, claim } = KINDS.imports as (typeof KINDS)[string];
  const any = { expiredClaims: 'ended', except: [] } as const;
  await insert(busy, 2);
  await claim(1);
  expect(await findOtherWaiting(db, busy, any)).toBeUndefined();
  await insert(quiet, 1);
  await db.transaction().execute(async (trx) => {
    await sql`select from imports where workspace = ${quiet} for update`.execute(trx);
    expect(await findOtherWaiting(db, busy, any)).toBe(quiet);
  });
});
