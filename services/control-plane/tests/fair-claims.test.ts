import { newId } from '@framelane/contracts/ids';
import { COMMAND_TYPES, type CommandType } from '@framelane/contracts/messages';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import { claimDueImport, findOtherWaiting } from '../src/imports/imports.store.ts';
import { claimDueCommands, isOfPlan } from '../src/tasks/commands.store.ts';
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

/** The time at which the nth row of a workspace is due. */
const DUE = sql`now() - interval '1 hour' + n * interval '1 second'`;

/** Inserts `count` processing videos of a workspace. Resolves with the beginning of their ids. */
async function videos(workspaceId: string, count: number): Promise<string> {
  const prefix = newId('vid');
  await sql`
    insert into videos (id, workspace_id, environment, title, filename, status, uploaded_at, size)
    select ${prefix} || n, ${workspaceId}, 'live', 'Any', 'any.mp4', 'processing', now(), 1
    from generate_series(1, ${count}::int) n`.execute(db);
  return prefix;
}

/** Inserts videos with a due command each: to plan or cut them, for the first task of their plans, or for a derivation. */
async function commands(type: CommandType, workspaceId: string, count: number): Promise<void> {
  const prefix = await videos(workspaceId, count);
  await sql`
    insert into attempts (video_id, number, due_at)
    select ${prefix} || n, 1, ${DUE} from generate_series(1, ${count}::int) n`.execute(db);
  const [number, kind, work] = type === 'plan' || type === 'clip' ? [0, type, null] : [1, 'audio', '{}'];
  const inputBytes = type === 'plan' || isOfPlan(type) ? null : 1;
  await sql`
    insert into tasks (video_id, workspace_id, attempt, number, kind, command, input_bytes, work, frames, command_due_at)
    select ${prefix} || n, ${workspaceId}, 1, ${number}::int, ${kind}, ${type}, ${inputBytes}::bigint, ${work}::jsonb, 1,
      ${DUE}
    from generate_series(1, ${count}::int) n`.execute(db);
}

/** The slots for commands of a type. Those of the other type are due, too. */
function slotsFor(type: CommandType): Slots {
  return {
    insert: async (workspaceId, count) => {
      for (const each of COMMAND_TYPES) await commands(each, workspaceId, count);
    },
    claim: async (limit, on = db) =>
      (await claimDueCommands(on, type, { ...LEASE, limit, perWorkspace: QUEUE })).map(
        (claimed) => claimed.workspaceId,
      ),
  };
}

type Slots = {
  insert: (workspaceId: string, count: number) => Promise<void>;
  claim: (limit: number, on?: Database) => Promise<string[]>;
};

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
const KINDS: Record<string, Slots> = {
  imports: {
    insert: async (workspaceId, count) => {
      const prefix = await videos(workspaceId, count);
      await sql`
        insert into imports (video_id, workspace_id, shown_url, request, deadline, due_at)
        select ${prefix} || n, ${workspaceId}, 'any', 'sealed', now() + interval '1 day', ${DUE}
        from generate_series(1, ${count}::int) n`.execute(db);
    },
    claim: async (limit, on = db) => {
      const claims = await Promise.all(
        Array.from({ length: limit }, () => claimDueImport(on, { ...LEASE, claimId: newId('xfr') }, 'ended')),
      );
      return workspacesOf(claims.flatMap((claimed) => claimed?.videoId ?? []));
    },
  },
  'commands to plan': slotsFor('plan'),
  'commands for tasks': slotsFor('task'),
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
        select ${prefix} || n, ${prefix} || n, ${prefix}, ${DUE}
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

  const PUBLISHED = sql`command_due_at = null, command_claimed_until = null, command_published_at = now()`;
  /** As if the claimed commands were published. */
  const publishClaimed = () =>
    sql`update tasks set ${PUBLISHED} where command_claimed_until is not null`.execute(db);

  test.each(COMMAND_TYPES)('holds few of one workspace, of the type %s', async (type) => {
    const { insert, claim } = slotsFor(type);
    await insert(busy, BUSY);
    expect(await claim(10)).toHaveLength(QUEUE);
    await publishClaimed();
    expect(await claim(10)).toEqual([]);
    await insert(quiet, 1);
    expect(await claim(10)).toEqual([quiet]);
  });

  test.each([
    ['plan', 'task'],
    ['task', 'plan'],
  ] as const)(
    'is one for each type: those of the type %s do not delay those of the type %s',
    async (full, type) => {
      await slotsFor(full).insert(busy, BUSY);
      expect(await slotsFor(full).claim(10)).toHaveLength(QUEUE);
      expect(await slotsFor(type).claim(1)).toEqual([busy]);
      await publishClaimed();
      expect(await slotsFor(full).claim(10)).toEqual([]);
      expect(await slotsFor(type).claim(10)).toHaveLength(QUEUE - 1);
    },
  );
});

/** Expects claims in this order to read few rows of a table. */
async function expectFewReads(claim: Slots['claim'], table: string, workspaceIds: readonly string[]) {
  for (const workspaceId of workspaceIds) {
    await db.transaction().execute(async (trx) => {
      const before = await rowsRead(trx, table);
      expect(await claim(1, trx)).toEqual([workspaceId]);
      expect((await rowsRead(trx, table)) - before).toBeLessThan(50);
    });
  }
}

const MANY = 2000;

describe('with many rows that are due at the same time', () => {
  /** Clears the tables and inserts rows that are all due at once. The statistics know only the busy one of the two workspaces. */
  async function insertMany({ insert }: Slots, table: string, due: string): Promise<readonly string[]> {
    await clear();
    await insert(busy, MANY);
    await sql`update ${sql.table(table)} set ${sql.ref(due)} = now() - interval '2 hours'`.execute(db);
    await sql`analyze ${sql.table(table)}`.execute(db);
    const other = await insertWorkspace(db);
    await insert(other, 1);
    return [busy, other];
  }

  test('a claim of imports reads few of them', async () => {
    const imports = KINDS.imports as Slots;
    await expectFewReads(imports.claim, 'imports', await insertMany(imports, 'imports', 'due_at'));
  });

  describe('of commands', () => {
    let workspaces: readonly string[];
    beforeAll(async () => {
      // Commands of all types.
      workspaces = await insertMany(slotsFor('plan'), 'tasks', 'command_due_at');
    });

    test.each(['plan', 'task'] as const)('a claim of the type %s reads few of them', async (type) => {
      await expectFewReads(slotsFor(type).claim, 'tasks', workspaces);
    });
  });
});

describe('with many tasks in progress', () => {
  beforeAll(async () => {
    await clear();
    // Of all types.
    const { insert } = slotsFor('plan');
    await insert(busy, MANY);
    await sql`update tasks set command_due_at = null, lease_expires_at = 'infinity'`.execute(db);
    await insert(busy, 1);
    await sql`analyze tasks`.execute(db);
  });

  test.each(COMMAND_TYPES)('a claim of a command of the type %s reads few of them', async (type) => {
    await expectFewReads(slotsFor(type).claim, 'tasks', [busy]);
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
    await sql`select from imports where workspace_id = ${quiet} for update`.execute(trx);
    expect(await findOtherWaiting(db, busy, any)).toBe(quiet);
  });
});
