import { beforeEach, expect, test } from '@jest/globals';
import type { Insertable } from 'kysely';
import type { Database } from '../src/db/database.ts';
import type { Schema } from '../src/db/schema.ts';
import { findDueSources, markSourceDeleted, scheduleSourceDeletion } from '../src/videos/sources.store.ts';
import { insertArtifact, insertVideo, READY, SOURCE } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

type VideoValues = Partial<Insertable<Schema['videos']>>;

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  for (const table of ['artifacts', 'videos'] as const) await db.deleteFrom(table).execute();
});

const NOW = Date.now();
const days = (count: number) => new Date(NOW + count * 24 * 3600 * 1000);

/** A ready video whose source is stored, with differences. */
async function video({
  isStored = true,
  ...difference
}: { isStored?: boolean } & VideoValues = {}): Promise<string> {
  const ready = { ...READY, size: 70, uploaded_at: days(-3), ready_at: days(-2) };
  const id = await insertVideo(db, workspaceId, { ...ready, ...difference });
  if (isStored) await insertArtifact(db, id, SOURCE);
  return id;
}

const FAILED: VideoValues = {
  status: 'failed',
  error_code: 'not_a_video',
  content_key: null,
  failed_at: days(-1),
};

/** Videos without a source that can be deleted. */
const OTHERS: [string, object][] = [
  ['the video is processing', { status: 'processing' }],
  ['the video has no file', { ...FAILED, isStored: false, uploaded_at: null }],
  ['the source is deleted', { isStored: false, source_deleted_at: days(-1) }],
  ['the video is deleted', { deleted_at: days(-1), content_key: null }],
];

const row = (id: string) =>
  db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test.each<[string, object, Date | null]>([
  ['of a ready video', { keep_source_days: 5 }, days(3)],
  ['of a failed video', { ...FAILED, keep_source_days: 9 }, days(8)],
  ['of a failed video that is never kept', { ...FAILED, keep_source_days: 0 }, days(6)],
  ['of a video that keeps it from now on', { keep_source_days: null, delete_source_at: days(1) }, null],
])('the source %s: when is it deleted?', async (_, difference, expected) => {
  const [id, other] = [await video(difference), await video(difference)];
  const before = await row(other);
  await scheduleSourceDeletion(db, id);
  expect((await row(id)).delete_source_at).toEqual(expected);
  expect(await row(other)).toEqual(before);
});

test.each(OTHERS)('no deletion is scheduled or performed: %s', async (_, difference) => {
  const id = await video({ ...difference, keep_source_days: 5, delete_source_at: days(-1) });
  const before = await row(id);
  await scheduleSourceDeletion(db, id);
  expect([await markSourceDeleted(db, id, 'now'), await markSourceDeleted(db, id, 'due')]).toEqual([
    ...[false, false],
  ]);
  expect(await findDueSources(db, 9)).toEqual([]);
  expect(await row(id)).toEqual(before);
});

test('a source is deleted at once, and other sources stay', async () => {
  const [id, failed, other] = [
    await video({ delete_source_at: days(1) }),
    await video(FAILED),
    await video(),
  ];
  const before = await row(other);
  for (const each of [id, failed]) {
    expect(await markSourceDeleted(db, each, 'now')).toBe(true);
    expect(await row(each)).toMatchObject({ source_deleted_at: expect.any(Date), delete_source_at: null });
  }
  expect(await row(other)).toEqual(before);
});

test('a source is deleted when it is due', async () => {
  const [late, due] = [
    await video({ delete_source_at: days(1) }),
    await video({ delete_source_at: days(-1) }),
  ];
  expect([await markSourceDeleted(db, late, 'due'), await markSourceDeleted(db, due, 'due')]).toEqual([
    ...[false, true],
  ]);
  expect(await markSourceDeleted(db, await video(), 'due')).toBe(false);
});

test('due sources are found, those due for longest first', async () => {
  const [second, first] = [
    await video({ delete_source_at: days(-1) }),
    await video({ ...FAILED, delete_source_at: days(-2) }),
  ];
  await video({ delete_source_at: days(1) });
  await video();
  expect(await findDueSources(db, 9)).toEqual([first, second]);
  expect(await findDueSources(db, 1)).toEqual([first]);
});
