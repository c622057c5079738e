import { newId } from '@framelane/contracts/ids';
import { beforeEach, expect, test } from '@jest/globals';
import { findBacklog, startAttempt } from '../src/attempts/attempts.store.ts';
import type { Database } from '../src/db/database.ts';
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

const minutes = (count: number) => new Date(Date.now() + count * 60_000);

/** A processing video. Its first attempt has ended; the second one is open. Times are in minutes from now. */
async function video({ due = 0, started }: { due?: number; started?: number } = {}): Promise<string> {
  const id = newId('vid');
  const names = { title: 'Any', filename: 'any.mp4', environment: 'live', status: 'processing' } as const;
  await db
    .insertInto('videos')
    .values({ ...names, id, workspace_id: workspaceId })
    .execute();
  await db
    .insertInto('attempts')
    .values([
      { video_id: id, number: 1, due_at: minutes(-90), outcome: 'failed', finished_at: minutes(-80) },
      {
        video_id: id,
        number: 2,
        due_at: minutes(due),
        started_at: started === undefined ? null : minutes(started),
      },
    ])
    .execute();
  return id;
}

test('an attempt starts with a content key, and no other attempt does', async () => {
  const id = await video();
  await video();
  await startAttempt(db, { videoId: id, attempt: 2 }, { claimId: 'c1', sealedContentKey: 'sealed' });
  const attempts = db.selectFrom('attempts').select(['video_id', 'number', 'claim_id']);
  expect(await attempts.where('started_at', 'is not', null).execute()).toEqual([
    { video_id: id, number: 2, claim_id: 'c1' },
  ]);
  const keys = db.selectFrom('videos').select(['id', 'content_key']).where('content_key', 'is not', null);
  expect(await keys.execute()).toEqual([{ id, content_key: 'sealed' }]);
});

test('the backlog counts videos whose open attempt waits or has started', async () => {
  expect(await findBacklog(db)).toEqual({
    waiting: { count: 0, oldestSeconds: 0 },
    running: { count: 0, oldestSeconds: 0 },
  });
  for (const due of [-5, -10, 5]) await video({ due });
  await video({ due: -60, started: -20 });
  const { waiting, running } = await findBacklog(db);
  expect([waiting.count, running.count]).toEqual([3, 1]);
  expect(Math.round(waiting.oldestSeconds / 60)).toBe(10);
  expect(Math.round(running.oldestSeconds / 60)).toBe(20);
});
