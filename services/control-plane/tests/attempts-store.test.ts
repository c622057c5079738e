import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  findBacklog,
  findExpiredAttempts,
  findOpenAttempt,
  findOpenAttempts,
  insertAttempt,
  isAttemptLive,
  renewAttempt,
} from '../src/attempts/attempts.store.ts';
import {
  claimDueCommands,
  countPublished,
  findCommandBacklog,
  makeAllDue,
  makeUnclaimedDue,
  recordPublished,
} from '../src/attempts/commands.store.ts';
import type { Database } from '../src/db/database.ts';
import { closeOpenAttempt, raiseProgress, storeFailedAttempts } from '../src/videos/video-lifecycle.store.ts';
import { MOVES } from '../src/videos/video-moves.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  await db.deleteFrom('attempts').execute();
  await db.deleteFrom('videos').execute();
});

const CLAIM = { limit: 1, perWorkspace: 4, leaseSeconds: 600 };
const NOW = Date.now();
const minutes = (count: number) => new Date(NOW + count * 60_000);

/** Differences from a processing video that waits for an engine. Times are in minutes from now. */
type Difference = {
  failed?: true;
  deleted?: true;
  due?: number;
  claimedUntil?: number;
  published?: number;
  waiting?: number;
  /** The lease of its open attempt, number 2; number 1 has ended. */
  lease?: number;
};

const timeOf = (value: number | undefined) => (value === undefined ? null : minutes(value));

async function video({
  failed,
  deleted,
  due,
  claimedUntil,
  published,
  waiting,
  lease,
}: Difference = {}): Promise<string> {
  const id = newId('vid');
  await db
    .insertInto('videos')
    .values({
      ...{ id, workspace_id: workspaceId, environment: 'live', title: 'Any', filename: 'any.mp4', size: 7 },
      status: failed ? 'failed' : 'processing',
      error_code: failed ? 'not_a_video' : null,
      deleted_at: deleted ? minutes(-1) : null,
      command_due_at: timeOf(due),
      command_claimed_until: timeOf(claimedUntil),
      command_published_at: timeOf(published),
      waiting_since: timeOf(waiting),
    })
    .execute();
  if (lease !== undefined) {
    const first = { video_id: id, number: 1, lease_expires_at: minutes(-5) };
    await db
      .insertInto('attempts')
      .values([
        { ...first, outcome: 'failed', finished_at: minutes(-4) },
        { video_id: id, number: 2, lease_expires_at: minutes(lease) },
      ])
      .execute();
  }
  return id;
}

const row = (id: string) =>
  db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test('a move refuses a tombstone, and a video whose status is not in `from`', async () => {
  const move = (id: string) => storeFailedAttempts(db, id, MOVES.nextAttempt, 1);
  const processing = await video();
  await move(processing);
  expect(await row(processing)).toMatchObject({ status: 'processing', failed_attempts: 1 });
  for (const id of [await video({ failed: true }), await video({ deleted: true })]) {
    const before = await row(id);
    await expect(move(id)).rejects.toThrow(`Video ${id} is not processing`);
    expect(await row(id)).toEqual(before);
  }
});

test('progress rises and never falls, and changes only this processing video', async () => {
  const videoId = await video();
  const others = [await video(), await video({ failed: true }), await video({ deleted: true })];
  const before = await Promise.all(others.map(row));
  expect(await raiseProgress(db, videoId, 40)).toEqual({ title: 'Any' });
  for (const percent of [40, 30]) expect(await raiseProgress(db, videoId, percent)).toBeUndefined();
  for (const id of others.slice(1)) expect(await raiseProgress(db, id, 50)).toBeUndefined();
  expect((await row(videoId)).progress).toBe(40);
  expect(await Promise.all(others.map(row))).toEqual(before);
});

describe('the open attempt of a video', () => {
  test('is found whether its lease has expired or not', async () => {
    const [none, expired, live] = [await video(), await video({ lease: -1 }), await video({ lease: 1 })];
    expect(await Promise.all([none, expired, live].map((id) => findOpenAttempt(db, id)))).toEqual([
      ...[undefined, { number: 2, hasTasks: false }, { number: 2, hasTasks: false }],
    ]);
    const found = await findOpenAttempts(db);
    expect(found.map(({ videoId }) => videoId).toSorted()).toEqual([expired, live].toSorted());
    expect(await findExpiredAttempts(db, 10)).toEqual([{ videoId: expired, number: 2 }]);
    await video({ lease: -1 });
    expect(await findExpiredAttempts(db, 1)).toHaveLength(1);
  });

  test('is live, unlike an ended attempt or the attempt of another video', async () => {
    const [videoId, other] = [await video({ lease: 1 }), await video()];
    const isLive = (number: number, id = videoId) => isAttemptLive(db, { videoId: id, number });
    expect([await isLive(2), await isLive(1), await isLive(2, other)]).toEqual([true, false, false]);
  });

  test('is renewed, and no other attempt', async () => {
    const [videoId, other] = [await video({ lease: 1 }), await video({ lease: 1 })];
    const leases = async (id: string) => {
      const attempts = db.selectFrom('attempts').select('lease_expires_at').where('video_id', '=', id);
      return (await attempts.orderBy('number').execute()).map(({ lease_expires_at }) => lease_expires_at);
    };
    const before = [await leases(videoId), await leases(other)];
    expect(await renewAttempt(db, { videoId, number: 1 }, 600)).toBe(false);
    expect(await renewAttempt(db, { videoId, number: 2 }, 600)).toBe(true);
    const [ended, open] = await leases(videoId);
    expect(ended).toEqual(before[0]?.[0]);
    expect(open?.getTime()).toBeGreaterThan(minutes(9).getTime());
    expect(await leases(other)).toEqual(before[1]);
  });

  test('is closed, and no other attempt', async () => {
    const [videoId, other] = [await video({ lease: 1 }), await video({ lease: 1 })];
    for (const video_id of [videoId, other])
      await db
        .insertInto('tasks')
        .values({ video_id, attempt: 2, number: 0, kind: 'audio', frames: 1 })
        .execute();
    await closeOpenAttempt(db, videoId, 'lease_expired');
    const attempts = db.selectFrom('attempts').select(['number', 'outcome']).orderBy('number');
    expect(await attempts.where('video_id', '=', videoId).execute()).toEqual([
      { number: 1, outcome: 'failed' },
      { number: 2, outcome: 'lease_expired' },
    ]);
    expect(await findOpenAttempt(db, other)).toMatchObject({ number: 2 });
    expect(await db.selectFrom('tasks').select('video_id').execute()).toEqual([{ video_id: other }]);
  });

  test('begins with a lease', async () => {
    const videoId = await video();
    await insertAttempt(db, { videoId, number: 1 }, 600);
    const { lease_expires_at } = await db.selectFrom('attempts').selectAll().executeTakeFirstOrThrow();
    expect(lease_expires_at.getTime()).toBeGreaterThan(minutes(9).getTime());
    expect(lease_expires_at.getTime()).toBeLessThan(minutes(11).getTime());
  });
});

test('the backlog counts processing videos that are not deleted, with and without an open attempt', async () => {
  await video({ failed: true, waiting: -90 });
  await video({ deleted: true, waiting: -90 });
  expect(await findBacklog(db)).toEqual({
    waiting: { count: 0, oldestSeconds: 0 },
    running: { count: 0, oldestSeconds: 0 },
  });
  for (const waiting of [-5, -10]) await video({ waiting });
  await video({ waiting: -60, lease: 1 });
  const { waiting, running } = await findBacklog(db);
  expect([waiting.count, running.count]).toEqual([2, 1]);
  expect(Math.round(waiting.oldestSeconds / 60)).toBe(10);
  expect(Math.round(running.oldestSeconds / 60)).toBe(0);
});

describe('commands', () => {
  test('that are due and unclaimed are claimed, those due for longest first', async () => {
    const [second, first] = [await video({ due: -1 }), await video({ due: -2, claimedUntil: -1 })];
    await video({ due: 1 });
    await video({ due: -3, claimedUntil: 1 });
    await video();
    const claim = async () => (await claimDueCommands(db, CLAIM)).map(({ videoId }) => videoId);
    expect([await claim(), await claim(), await claim()]).toEqual([[first], [second], []]);
  });

  test('that are due count in the backlog, claimed or not', async () => {
    expect(await findCommandBacklog(db, CLAIM.perWorkspace)).toEqual({ count: 0, oldestSeconds: 0 });
    for (const due of [-1, -2, 1]) await video({ due });
    await video({ due: -3, claimedUntil: 1 });
    const { count, oldestSeconds } = await findCommandBacklog(db, CLAIM.perWorkspace);
    expect([count, Math.round(oldestSeconds / 60)]).toEqual([3, 3]);
  });

  test('are recorded as published, unless a later command of the video is due by now', async () => {
    const videoId = await video({ due: -1, waiting: -1 });
    const other = await video({ due: 1 });
    const [command] = await claimDueCommands(db, CLAIM);
    if (command === undefined) throw new Error('The command was not due');
    await recordPublished(db, { ...command, dueAt: minutes(-2) });
    expect((await row(videoId)).command_due_at).toEqual(command.dueAt);
    await recordPublished(db, command);
    expect(await row(videoId)).toMatchObject({
      ...{ command_due_at: null, command_claimed_until: null, command_published_at: expect.any(Date) },
    });
    expect((await row(other)).command_due_at).not.toBeNull();
  });

  test('become due again once, long after they were published, and only while their videos wait', async () => {
    const second = await video({ published: -20 });
    const first = await video({ published: -30 });
    const others: Difference[] = [
      { published: -5 },
      { failed: true },
      { deleted: true },
      { lease: 1 },
      { due: 1 },
    ];
    for (const other of others) await video({ published: -30, ...other });
    const due = db.selectFrom('videos').select('id').where('command_due_at', '<=', sql<Date>`now()`);
    expect(await countPublished(db)).toBe(3);
    // There can be more of them than one statement changes in time.
    expect(await makeUnclaimedDue(db, 600, 1)).toEqual([first]);
    expect(await makeUnclaimedDue(db, 600, 9)).toEqual([second]);
    expect((await due.execute()).map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
    expect(await makeUnclaimedDue(db, 600, 9)).toEqual([]);
  });

  test('of all videos that wait become due, also claimed ones, but not those of delayed attempts', async () => {
    const waiting = [await video({ waiting: -1 }), await video({ waiting: -1, due: -1, claimedUntil: 9 })];
    const others: Difference[] = [{ waiting: 5 }, { failed: true }, { deleted: true }, { lease: 1 }];
    for (const other of others) await video({ waiting: -1, ...other });
    await makeAllDue(db);
    const due = db.selectFrom('videos').select('id').where('command_due_at', '<=', sql<Date>`now()`);
    const rows = await due.where('command_claimed_until', 'is', null).execute();
    expect(rows.map(({ id }) => id).toSorted()).toEqual(waiting.toSorted());
  });
});
