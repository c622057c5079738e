import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import type { VideoRow, VideoStatus } from '../src/db/schema.ts';
import {
  type AttemptResult,
  closeOpenAttempt,
  deleteTombstones,
  endImport,
  findVideosToRemove,
  insertAttempt,
  lockVideo,
  moveVideo,
  raiseProgress,
  resetFailure,
  storeAsWhole,
  storeFailure,
  storeFile,
  storeResult,
  turnIntoTombstone,
} from '../src/videos/video-lifecycle.store.ts';
import { MOVES } from '../src/videos/video-moves.ts';
import { sampleManifest } from './support/manifest.ts';
import {
  insertCaptions,
  insertChapters,
  insertImport,
  insertRendition,
  insertTicket,
  insertVideo,
  READY,
} from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
/** The tables whose rows are deleted with the video. */
const TABLES = [
  'artifacts',
  'captions',
  'chapters',
  'posters',
  'renditions',
  'attempts',
  'imports',
  'upload_tickets',
] as const;
beforeEach(async () => {
  for (const table of [...TABLES, 'object_purges', 'videos'] as const) await db.deleteFrom(table).execute();
});

const NOW = Date.now();
const minutes = (count: number) => new Date(NOW + count * 60_000);
const days = (count: number) => minutes(count * 24 * 60);

/** Columns that a video has in each status. */
const COLUMNS: Record<VideoStatus, object> = {
  uploading: {},
  processing: { content_key: 'key' },
  ready: READY,
  failed: { error_code: 'not_a_video', error_message: 'No.', failed_at: minutes(-5) },
};

async function video(status: VideoStatus, values: object = {}): Promise<string> {
  const id = newId('vid');
  const fixed = { title: id, updated_at: minutes(-1), ...COLUMNS[status] };
  return insertVideo(db, workspaceId, { id, ...fixed, status, ...values });
}

const row = (id: string): Promise<VideoRow> =>
  db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** What an action changes about a video. Fails if it changes another one. */
async function changesOf(videoId: string, action: () => Promise<unknown>): Promise<Partial<VideoRow>> {
  const all = () => db.selectFrom('videos').selectAll().orderBy('id').execute();
  const before = await all();
  await action();
  const after = await all();
  const others = (rows: VideoRow[]) => rows.filter(({ id }) => id !== videoId);
  expect(others(after)).toEqual(others(before));
  const [old, current] = [before, after].map((rows) => rows.find(({ id }) => id === videoId));
  const changed = Object.entries(current ?? {}).filter(
    ([column, value]) => JSON.stringify(value) !== JSON.stringify(old?.[column as keyof VideoRow]),
  );
  return Object.fromEntries(changed);
}

const TIME = expect.any(Date);
const DELETED = { deleted_at: minutes(-1), content_key: null };
const AT_ONCE = { delaySeconds: 0, failedTries: 0, unreportedTries: 0 };
/** Columns of a processing video that every move clears. */
const OF_THE_PREVIOUS_ATTEMPT = { preview_variants: ['360p'] };
const CLEARED = { preview_variants: null };

test('a living video is found and locked', async () => {
  const [id, deleted] = [await video('uploading'), await video('uploading', { deleted_at: minutes(-1) })];
  expect(await lockVideo(db, deleted)).toBeUndefined();
  await db.transaction().execute(async (trx) => {
    expect(await lockVideo(trx, id)).toMatchObject({ id });
    const other = db.selectFrom('videos').select('id').where('id', '=', id).forUpdate().skipLocked();
    expect(await other.execute()).toEqual([]);
  });
});

describe('a move stores', () => {
  test('the file of an upload', async () => {
    const id = await video('uploading');
    await video('uploading');
    const file = { bytes: 70, sha256: 'hash' };
    expect(await changesOf(id, () => storeFile(db, id, MOVES.beginProcessing, file))).toEqual({
      status: 'processing',
      size: 70,
      sha256: 'hash',
      uploaded_at: TIME,
      updated_at: TIME,
    });
  });

  test('nothing else by default', async () => {
    const id = await video('processing', OF_THE_PREVIOUS_ATTEMPT);
    await video('processing', OF_THE_PREVIOUS_ATTEMPT);
    expect(await changesOf(id, () => moveVideo(db, id, MOVES.nextAttempt))).toEqual({
      ...CLEARED,
      updated_at: TIME,
    });
  });

  test('the result of an attempt, with the hash of the source unless the upload had one', async () => {
    const manifest = { ...sampleManifest(), startTimestamp: 9000 };
    const { container, videoCodec, audioCodec } = manifest.source;
    const result: AttemptResult = {
      manifest,
      renditions: { variants: ['360p'], targetDuration: 6 },
      sourceSha256: 'computed',
    };
    const id = await video('processing', OF_THE_PREVIOUS_ATTEMPT);
    const uploaded = await video('processing', { sha256: 'uploaded' });
    const store = async (videoId: string, each = result) =>
      changesOf(videoId, async () => storeResult(db, await row(videoId), MOVES.complete, each));
    expect(await store(id)).toEqual({
      ...CLEARED,
      status: 'ready',
      progress: 100,
      ready_at: TIME,
      updated_at: TIME,
      duration: 20,
      width: 854,
      height: 480,
      frame_rate: 25,
      start_timestamp: 9000,
      source: { container, videoCodec, audioCodec },
      sha256: 'computed',
      variants: ['360p'],
      target_duration: 6,
      input_issues: manifest.inputIssues,
    });
    expect(await store(uploaded)).not.toHaveProperty('sha256');
    const plain = await video('processing');
    await store(plain, { ...result, sourceSha256: undefined });
    expect(await row(plain)).toMatchObject({ sha256: null });
  });

  test('a failure, and erases the key', async () => {
    const id = await video('processing', OF_THE_PREVIOUS_ATTEMPT);
    const error = { code: 'malformed_media', message: 'Damaged.' } as const;
    expect(await changesOf(id, () => storeFailure(db, id, MOVES.fail, error))).toEqual({
      ...CLEARED,
      status: 'failed',
      error_code: 'malformed_media',
      error_message: 'Damaged.',
      content_key: null,
      failed_at: TIME,
      updated_at: TIME,
    });
  });

  test('a retry, and clears the failure', async () => {
    const id = await video('failed', { progress: 40, delete_source_at: minutes(9) });
    expect(await changesOf(id, () => resetFailure(db, id, MOVES.retry))).toEqual({
      status: 'processing',
      error_code: null,
      error_message: null,
      failed_at: null,
      progress: 0,
      delete_source_at: null,
      retried_at: [TIME],
      updated_at: TIME,
    });
  });

  test('the latest 100 retries', async () => {
    const earlier = Array.from({ length: 100 }, (_, at) => minutes(at - 200));
    const id = await video('failed', { retried_at: earlier });
    await resetFailure(db, id, MOVES.retry);
    const { retried_at } = await row(id);
    expect(retried_at).toEqual([...earlier.slice(1), TIME]);
    expect(retried_at.at(-1)?.getTime()).toBeGreaterThan(minutes(-1).getTime());
  });
});

test('a move refuses a tombstone, and a video whose status is not in `from`', async () => {
  const move = (id: string) => moveVideo(db, id, MOVES.nextAttempt);
  await move(await video('processing'));
  for (const id of [await video('failed'), await video('processing', DELETED)]) {
    const before = await row(id);
    await expect(move(id)).rejects.toThrow(`Video ${id} is not processing`);
    expect(await row(id)).toEqual(before);
  }
});

test('progress rises and never falls, and changes only this processing video', async () => {
  const id = await video('processing');
  const others = [await video('failed'), await video('processing', DELETED)];
  expect(await changesOf(id, () => raiseProgress(db, id, 40))).toEqual({ progress: 40, updated_at: TIME });
  for (const percent of [40, 30]) expect(await raiseProgress(db, id, percent)).toBeUndefined();
  expect(await raiseProgress(db, id, 41)).toEqual({ title: id });
  for (const other of others) {
    expect(await changesOf(other, () => raiseProgress(db, other, 50))).toEqual({});
  }
});

test('an attempt begins with the task that plans it; both wait until the delay is over', async () => {
  const [id, other] = [await video('processing', { attempt: 2 }), await video('processing')];
  const next = { delaySeconds: 600, failedTries: 1, unreportedTries: 2 };
  expect(await changesOf(id, () => insertAttempt(db, id, next))).toEqual({ attempt: 3 });
  const attempt = await db.selectFrom('attempts').selectAll().executeTakeFirstOrThrow();
  const tasks = await db.selectFrom('tasks').selectAll().execute();
  expect(attempt).toMatchObject({ video_id: id, number: 3, started_at: null, plan: null, outcome: null });
  expect(tasks).toMatchObject([
    {
      video_id: id,
      workspace_id: workspaceId,
      attempt: 3,
      number: 0,
      kind: 'plan',
      frames: 0,
      tries: 0,
      failed_tries: 1,
      unreported_tries: 2,
      due_at: tasks[0]?.command_due_at,
    },
  ]);
  for (const due of [attempt.due_at, tasks[0]?.due_at]) {
    expect(due?.getTime()).toBeGreaterThan(minutes(9).getTime());
    expect(due?.getTime()).toBeLessThan(minutes(11).getTime());
  }
  await insertAttempt(db, other, next);
  await expect(insertAttempt(db, other, next)).rejects.toThrow('attempts_open');
});

test('the open attempt is closed with its plan and its tasks, and no other attempt', async () => {
  const [id, other] = [await video('processing'), await video('processing')];
  for (const videoId of [id, other]) {
    await insertAttempt(db, videoId, AT_ONCE);
    await closeOpenAttempt(db, videoId, 'failed');
    await insertAttempt(db, videoId, AT_ONCE);
    await db
      .updateTable('attempts')
      .set({ plan: '{}', planned: '{}', source_sha256: 'hash' })
      .where('outcome', 'is', null)
      .execute();
  }
  await closeOpenAttempt(db, id, 'lease_expired');
  const attempts = (videoId: string) =>
    db
      .selectFrom('attempts')
      .select(['number', 'outcome', 'finished_at', 'plan', 'planned', 'source_sha256'])
      .where('video_id', '=', videoId)
      .orderBy('number')
      .execute();
  const ended = { finished_at: TIME, plan: null, planned: null, source_sha256: null };
  const first = { ...ended, number: 1, outcome: 'failed' };
  expect(await attempts(id)).toEqual([first, { ...ended, number: 2, outcome: 'lease_expired' }]);
  const open = { number: 2, outcome: null, finished_at: null, plan: {}, planned: {}, source_sha256: 'hash' };
  expect(await attempts(other)).toEqual([first, open]);
  const tasks = await db.selectFrom('tasks').select(['video_id', 'attempt']).execute();
  expect(tasks).toEqual([{ video_id: other, attempt: 2 }]);
  // Tasks can be added to a completed attempt.
  await closeOpenAttempt(db, other, 'completed');
  expect(await attempts(other)).toEqual([first, { ...ended, number: 2, outcome: 'completed', plan: {} }]);
});

test('a video is marked to be transcoded as a whole; others are not', async () => {
  const id = await video('processing');
  await video('processing');
  expect(await changesOf(id, () => storeAsWhole(db, id))).toEqual({ as_a_whole: true });
});

test('the end of an import erases its URL and headers; other imports stay', async () => {
  const [id, other] = [await video('uploading'), await video('uploading')];
  const due = { due_at: minutes(1), claimed_until: minutes(2), next_try_at: minutes(1) };
  for (const video_id of [id, other]) await insertImport(db, video_id, { ...due, request: 'sealed' });
  await endImport(db, id);
  const imports = db.selectFrom('imports').select(['request', 'due_at', 'claimed_until', 'next_try_at']);
  const ended = { request: null, due_at: null, claimed_until: null, next_try_at: null };
  expect(await imports.where('video_id', '=', id).execute()).toEqual([ended]);
  expect(await imports.where('video_id', '=', other).execute()).toEqual([{ ...due, request: 'sealed' }]);
});

test('living videos that are due for removal are found, those due for longest first', async () => {
  const [second, first] = [
    await video('ready', { remove_at: minutes(-1) }),
    await video('uploading', { remove_at: minutes(-2) }),
  ];
  await video('ready', { remove_at: minutes(1) });
  await video('ready');
  await video('failed', { remove_at: minutes(-3), deleted_at: minutes(-1) });
  const found = [first, second].map((videoId) => ({ workspaceId, videoId }));
  expect(await findVideosToRemove(db, 9)).toEqual(found);
  expect(await findVideosToRemove(db, 1)).toEqual(found.slice(0, 1));
});

test('a tombstone keeps nothing of the owner, and no rows in other tables; other videos stay', async () => {
  const texts = {
    title: 'Title',
    filename: 'name.mp4',
    metadata: JSON.stringify({ a: 'b' }),
    tags: ['t'],
    passthrough: 'p',
    error_message: 'Damaged.',
    allowed_origins: ['https://a.example'],
  };
  const values = {
    playback_policy: 'signed',
    keep_source_days: 3,
    size: 70,
    sha256: 'hash',
    storage_bytes: 100,
    source: JSON.stringify({ container: 'matroska' }),
    input_issues: JSON.stringify([{ code: 'any' }]),
    duration: 7,
    width: 640,
    height: 360,
    frame_rate: 25,
    start_timestamp: 9000,
    preview_variants: ['360p'],
    storyboard: '{}',
    chosen_poster: '{}',
    chapter_count: 2,
    retried_at: [minutes(-9)],
    delete_source_at: minutes(9),
  };
  const videos = [await video('ready', { ...texts, ...values }), await video('ready')] as const;
  for (const video_id of videos) {
    await insertCaptions(db, video_id, 'en');
    await insertChapters(db, video_id);
    await db
      .insertInto('posters')
      .values({ video_id, image: Buffer.alloc(1) })
      .execute();
    await insertRendition(db, video_id);
    await db
      .insertInto('attempts')
      .values({ video_id, number: 1, due_at: minutes(0) })
      .execute();
    await insertImport(db, video_id);
    await insertTicket(db, video_id);
  }
  const [id, other] = videos;
  expect(await changesOf(id, () => turnIntoTombstone(db, id, MOVES.delete))).toEqual({
    deleted_at: TIME,
    updated_at: TIME,
    title: '',
    filename: '',
    metadata: {},
    tags: [],
    passthrough: null,
    error_message: null,
    allowed_origins: null,
    playback_policy: 'public',
    keep_source_days: null,
    size: null,
    sha256: null,
    storage_bytes: 0,
    source: null,
    input_issues: [],
    duration: null,
    width: null,
    height: null,
    frame_rate: null,
    start_timestamp: null,
    variants: null,
    preview_variants: null,
    target_duration: null,
    storyboard: null,
    chapter_count: 0,
    chosen_poster: null,
    retried_at: [],
    delete_source_at: null,
    content_key: null,
  });
  for (const table of TABLES) {
    const rows = await db.selectFrom(table).select('video_id').execute();
    expect([table, rows]).toEqual([table, [{ video_id: other }]]);
  }
});

test('old tombstones are deleted, in batches, when their purge has ended', async () => {
  const deleted = (count: number) => video('failed', { deleted_at: days(count) });
  const [young, purged] = [await deleted(-9), await deleted(-11)];
  for (let count = 0; count < 3; count += 1) await deleted(-11);
  const living = await video('failed');
  await db.insertInto('object_purges').values({ video_id: purged }).execute();
  expect([await deleteTombstones(db, 10, 2), await deleteTombstones(db, 10, 2)]).toEqual([2, 1]);
  const left = await db.selectFrom('videos').select('id').execute();
  expect(left.map(({ id }) => id).toSorted()).toEqual([young, purged, living].toSorted());
});
