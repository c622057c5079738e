import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { findFigures, findTopVideos } from '../src/analytics/analytics.store.ts';
import {
  type ChangedDay,
  endChanges,
  endChangesOfWorkspaces,
  findChangedDays,
  findChangedDaysOfWorkspaces,
  rollUp,
  storeSums,
} from '../src/analytics/roll-up.store.ts';
import { sessionIdOf, type ViewReport } from '../src/analytics/view-report.ts';
import { addReports, deleteDiscarded } from '../src/analytics/view-sessions.store.ts';
import { type Database, databaseTime } from '../src/db/database.ts';
import { createDayPartitions } from '../src/db/day-partitions.ts';
import { insertVideo, READY } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
let day: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeAll(async () => {
  await createDayPartitions(db, 'view_sessions');
  day = (await databaseTime(db)).toISOString().slice(0, 10);
});
beforeEach(() => db.deleteFrom('viewer_changes').execute());

const newVideo = () => insertVideo(db, workspaceId, { ...READY, duration: 100 });

/** Reports of the playback of a video that something was watched. */
async function report(videoId: string, watchMs: number): Promise<void> {
  const facts = { workspaceId, visitor: Buffer.alloc(8), device: 'tv', country: null, error: null } as const;
  const nothing = { watched: [], segments: [], startupMs: null, stalls: 0, stallMs: 0 };
  const parts = { all: '0'.repeat(100), byRung: '0'.repeat(400) };
  const sent: ViewReport = { day, videoId, sessionId: sessionIdOf(videoId), watchMs, ...facts, ...nothing };
  await addReports(db, [{ ...sent, parts, stalledParts: '0'.repeat(100) }]);
}

async function changeOf(videoId: string): Promise<ChangedDay | undefined> {
  const changes = await findChangedDays(db, { after: undefined, limit: 100 });
  return changes.find((change) => change.videoId === videoId);
}

/** A report as above, with the change that it makes. */
async function changed(videoId: string, watchMs: number): Promise<ChangedDay> {
  await report(videoId, watchMs);
  const change = await changeOf(videoId);
  if (change === undefined) throw new Error('The report has marked no day');
  return change;
}

async function watched(videoId: string): Promise<number | undefined> {
  const [figures] = await findFigures(db, { videoId }, { first: day, last: day });
  return figures?.watchMs;
}

const SUMS = { views: 1, stalls: 0, stallMs: 0, retention: Array<number>(100).fill(0), breakdowns: {} };

test('a roll-up that read a day before a later change does not replace the figures of the later one', async () => {
  const videoId = await newVideo();
  const first = await changed(videoId, 5000);
  const second = await changed(videoId, 9000);
  await rollUp(db, [second]);
  await sql`update view_sessions set watch_ms = 5000 where video_id = ${videoId}`.execute(db);
  await rollUp(db, [first]);
  await storeSums(db, first, { ...SUMS, watchMs: 5000 }, 1);
  expect(await watched(videoId)).toBe(9000);
  // The same change can be summed up again, also to less: a player can have loaded more than it has played.
  await rollUp(db, [second]);
  expect(await watched(videoId)).toBe(5000);
  await storeSums(db, second, { ...SUMS, watchMs: 4000 }, 1);
  expect(await watched(videoId)).toBe(4000);
  await storeSums(db, second, { ...SUMS, views: 0, watchMs: 9000 }, 1);
  expect(await watched(videoId)).toBe(4000);
});

test('only the change that was summed up ends, also if it has ended before and another has come', async () => {
  const videoId = await newVideo();
  const first = await changed(videoId, 1000);
  const second = await changed(videoId, 2000);
  await endChanges(db, [first]);
  expect(await changeOf(videoId)).toEqual(second);
  await endChanges(db, [second]);
  expect(await changeOf(videoId)).toBeUndefined();
  const third = await changed(videoId, 3000);
  await endChanges(db, [first, second]);
  expect(await changeOf(videoId)).toEqual(third);
});

test('the workspace of a day that was summed up is counted again, even if the day has changed meanwhile', async () => {
  const videoId = await newVideo();
  const first = await changed(videoId, 1000);
  await rollUp(db, [first]);
  await changed(videoId, 2000);
  await endChanges(db, [first]);
  const [workspace] = await findChangedDaysOfWorkspaces(db, { after: undefined, limit: 1 });
  if (workspace === undefined) throw new Error('The workspace is not marked');
  expect(workspace).toMatchObject({ workspaceId, environment: 'live', day, reports: expect.any(Number) });
  expect(await findChangedDaysOfWorkspaces(db, { after: workspace, limit: 1 })).toEqual([]);
  await endChanges(db, [first]);
  await endChangesOfWorkspaces(db, [workspace]);
  const [later] = await findChangedDaysOfWorkspaces(db, { after: undefined, limit: 1 });
  expect(later?.version).toBeGreaterThan(workspace.version);
  await endChangesOfWorkspaces(db, later === undefined ? [] : [later]);
  expect(await findChangedDaysOfWorkspaces(db, { after: undefined, limit: 1 })).toEqual([]);
});

test('a deleted video is none of the most watched, marks no workspace, and its reports are deleted', async () => {
  const [deleted, left] = [await newVideo(), await newVideo()];
  const changes = [await changed(deleted, 9000), await changed(left, 1000)];
  await rollUp(db, changes);
  await db
    .updateTable('videos')
    .set({ deleted_at: new Date(), content_key: null })
    .where('id', '=', deleted)
    .execute();
  const top = await findTopVideos(db, { workspaceId, environment: 'live' }, { first: day, last: day }, 10);
  expect(top.map(({ videoId }) => videoId)).not.toContain(deleted);
  expect(top.find(({ videoId }) => videoId === left)).toEqual({
    ...{ videoId: left, title: 'Any', views: 1, watchMs: 1000, watchedParts: 0 },
  });
  await endChanges(db, changes.slice(0, 1));
  expect(await findChangedDaysOfWorkspaces(db, { after: undefined, limit: 1 })).toEqual([]);
  await deleteDiscarded(db, changes);
  const reports = db.selectFrom('view_sessions').select('video_id').where('video_id', 'in', [deleted, left]);
  expect(await reports.execute()).toEqual([{ video_id: left }]);
});
