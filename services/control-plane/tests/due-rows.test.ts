import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  claimDueSteps,
  findStepBacklog,
  insertSteps,
  releaseClaims,
  renewStepClaim,
  scheduleNextRun,
  scheduleStepNow,
} from '../src/background/maintenance.store.ts';
import type { Database } from '../src/db/database.ts';
import {
  claimDuePurges,
  endPurge,
  findPurgeBacklog,
  releasePurges,
  renewPurgeClaim,
  requestPurge,
  scheduleNextPass,
} from '../src/videos/object-purges.store.ts';
import { insertVideo } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const NOW = Date.now();
const minutes = (count: number) => new Date(NOW + count * 60_000);

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});

const claimed = <T>([row]: T[]): T => {
  if (row === undefined) throw new Error('The row was not due');
  return row;
};

describe('a maintenance step', () => {
  const NAMES = ['one', 'other'];
  const claim = (names = ['one'], on = db, limit = 10) =>
    claimDueSteps(on, { names, limit, leaseSeconds: 600 });
  const steps = () => db.selectFrom('maintenance_steps').selectAll().orderBy('name').execute();
  const set = (values: { due_at?: Date; claimed_until?: Date | null }) =>
    db.updateTable('maintenance_steps').set(values).execute();
  beforeEach(async () => {
    await db.deleteFrom('maintenance_steps').execute();
    await insertSteps(db, NAMES);
    await set({ due_at: minutes(-2) });
  });

  test('is added once', async () => {
    await insertSteps(db, ['one', 'third']);
    expect((await steps()).map(({ name, due_at }) => [name, due_at.getTime() === NOW - 120_000])).toEqual([
      ['one', true],
      ['other', true],
      ['third', false],
    ]);
  });

  test('is claimed once by control planes that claim at the same time, until its claim expires', async () => {
    await db.transaction().execute(async (trx) => {
      expect(await claim(['one'], trx)).toHaveLength(1);
      expect(await claim()).toEqual([]);
    });
    expect(await claim(NAMES)).toEqual([{ name: 'other', dueAt: minutes(-2) }]);
    expect(await claim(NAMES)).toEqual([]);
    await set({ claimed_until: minutes(-1) });
    expect(await claim(NAMES)).toHaveLength(2);
    await releaseClaims(db);
    expect(await claim(NAMES)).toHaveLength(2);
  });

  test('is claimed before those that became due later', async () => {
    await db
      .updateTable('maintenance_steps')
      .set({ due_at: minutes(-3) })
      .where('name', '=', 'other')
      .execute();
    const first = () => claim(NAMES, db, 1);
    expect([await first(), await first(), await first()].flat().map(({ name }) => name)).toEqual([
      'other',
      'one',
    ]);
  });

  test('that takes long renews its claim, and an outdated claim renews nothing', async () => {
    const step = claimed(await claim());
    await renewStepClaim(db, step, 3600);
    await renewStepClaim(db, { ...step, dueAt: minutes(-3) }, 0);
    const [one, other] = await steps();
    expect(one?.claimed_until?.getTime()).toBeGreaterThan(minutes(50).getTime());
    expect(other?.claimed_until).toBeNull();
  });

  test('is scheduled again after a run, and runs again if it was scheduled meanwhile', async () => {
    const first = claimed(await claim());
    await scheduleStepNow(db, 'one');
    await scheduleNextRun(db, first, 600);
    expect(await claim()).toEqual([]);
    await set({ claimed_until: minutes(-1) });
    const second = claimed(await claim());
    expect(second.dueAt).not.toEqual(first.dueAt);
    await scheduleNextRun(db, second, 600);
    const [one, other] = await steps();
    expect(one?.due_at.getTime()).toBeGreaterThan(minutes(9).getTime());
    expect(one?.claimed_until).toBeNull();
    expect(other?.due_at).toEqual(minutes(-2));
  });

  test('counts in the backlog while it is due', async () => {
    await set({ claimed_until: minutes(1) });
    const { count, oldestSeconds } = await findStepBacklog(db, ['one']);
    expect([count, Math.round(oldestSeconds / 60)]).toEqual([1, 2]);
    await set({ due_at: minutes(1) });
    expect(await findStepBacklog(db, NAMES)).toEqual({ count: 0, oldestSeconds: 0 });
  });
});

describe('a purge', () => {
  let videoIds: string[];
  const purges = () => db.selectFrom('object_purges').selectAll().orderBy('video_id').execute();
  const set = (values: { due_at?: Date; claimed_until?: Date | null }, ids = videoIds) =>
    db.updateTable('object_purges').set(values).where('video_id', 'in', ids).execute();
  beforeEach(async () => {
    await db.deleteFrom('object_purges').execute();
    videoIds = [newId('vid'), newId('vid')].toSorted();
    for (const id of videoIds) {
      await insertVideo(db, workspaceId, { id });
      await requestPurge(db, id);
    }
    await set({ due_at: minutes(-2) });
  });

  test('is claimed until its claim expires, after those that have been due for longer', async () => {
    const [first = '', second = ''] = videoIds;
    await set({ due_at: minutes(-3) }, [second]);
    const claim = async () => (await claimDuePurges(db, 1, 600)).map(({ videoId }) => videoId);
    expect([await claim(), await claim(), await claim()]).toEqual([[second], [first], []]);
    await set({ claimed_until: minutes(-1) });
    expect(await claim()).toEqual([second]);
    await releasePurges(db);
    expect(await claim()).toEqual([second]);
    await set({ due_at: minutes(1), claimed_until: null });
    expect(await claim()).toEqual([]);
  });

  test('runs its passes, and ends', async () => {
    const purge = claimed(await claimDuePurges(db, 1, 600));
    const own = async () => (await purges()).find((each) => each.video_id === purge.videoId);
    const other = async () => (await purges()).find((each) => each.video_id !== purge.videoId);
    const before = await other();
    await renewPurgeClaim(db, purge, 3600);
    expect((await own())?.claimed_until?.getTime()).toBeGreaterThan(minutes(50).getTime());
    await scheduleNextPass(db, purge, 600);
    const next = await own();
    expect(next).toMatchObject({ pass: 2, claimed_until: null });
    expect(next?.due_at.getTime()).toBeGreaterThan(minutes(9).getTime());
    expect(await other()).toEqual(before);
    await set({ due_at: minutes(-1) });
    await endPurge(db, { ...purge, dueAt: minutes(-1) });
    expect([await own(), await other()]).toEqual([undefined, { ...before, due_at: minutes(-1) }]);
  });

  test('that is requested again during a pass starts over', async () => {
    const purge = claimed(await claimDuePurges(db, 1, 600));
    await scheduleNextPass(db, purge, 0);
    await requestPurge(db, purge.videoId);
    const requested = (await purges()).find(({ video_id }) => video_id === purge.videoId);
    expect(requested).toMatchObject({ pass: 1, claimed_until: null });
    await renewPurgeClaim(db, purge, 600);
    await scheduleNextPass(db, purge, 600);
    await endPurge(db, purge);
    expect((await purges()).find(({ video_id }) => video_id === purge.videoId)).toEqual(requested);
  });

  test('counts in the backlog while it is due', async () => {
    await set({ claimed_until: minutes(1) });
    const { count, oldestSeconds } = await findPurgeBacklog(db);
    expect([count, Math.round(oldestSeconds / 60)]).toEqual([2, 2]);
    await set({ due_at: minutes(1) });
    expect(await findPurgeBacklog(db)).toEqual({ count: 0, oldestSeconds: 0 });
  });
});
