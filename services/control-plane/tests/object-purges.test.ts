import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@framelane/contracts/ids';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { attemptPrefix, hlsPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Insertable } from 'kysely';
import type { Database } from '../src/db/database.ts';
import type { Schema } from '../src/db/schema.ts';
import { EndedTransfers } from '../src/upload-tickets/ended-transfers.ts';
import { ObjectPurges } from '../src/videos/object-purges.service.ts';
import { requestPurge } from '../src/videos/object-purges.store.ts';
import { insertArtifact, insertTicket, insertVideo, READY, SOURCE } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const REPEAT_SECONDS = 600;
const ATTEMPT = 2;

type VideoValues = Partial<Insertable<Schema['videos']>>;

let db: Database;
let workspaceId: string;
let folder: string;
let objects: FileObjectStore;
let purges: ObjectPurges;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-test-objects-'));
  objects = new FileObjectStore(folder);
  const transfers = new EndedTransfers({ db });
  purges = new ObjectPurges({ db, objects, transfers, purgeRepeatSeconds: REPEAT_SECONDS });
});
afterAll(() => rm(folder, { recursive: true }));

const NOW = Date.now();
const FAILED: VideoValues = { status: 'failed', error_code: 'malformed_media' };

/** Creates a video with the objects of two attempts and two transfers. By default, the second transfer is its source. */
async function video({ isStored = true, ...values }: { isStored?: boolean } & VideoValues): Promise<string> {
  const processing = { status: 'processing', attempt: ATTEMPT, uploaded_at: new Date() } as const;
  const id = await insertVideo(db, workspaceId, { ...processing, ...values });
  if (isStored) await insertArtifact(db, id, { ...SOURCE, folder: 'xfr_2/' });
  if (values.status === 'ready') await insertArtifact(db, id, { attempt: ATTEMPT });
  for (const transfer of ['xfr_1', 'xfr_2'])
    await store(`${sourcePrefix(workspaceId, id)}${transfer}/original`);
  for (const attempt of [1, ATTEMPT])
    await store(`${attemptPrefix(workspaceId, id, attempt)}t0.1/audio/0.ts`);
  return id;
}

const store = (key: string) => objects.put(key, Buffer.from('any'), 'video/mp2t');

/** Purges a video once, and resolves with the keys of the objects that are left, without their common prefixes. */
async function purge(id: string): Promise<string[]> {
  await purges.perform({ videoId: id, pass: 1, dueAt: new Date() });
  const left: string[] = [];
  for (const prefix of [sourcePrefix(workspaceId, id), hlsPrefix(workspaceId, id)])
    for await (const { key } of objects.list(prefix)) left.push(key.slice(prefix.length));
  return left.toSorted();
}

/** Begins an upload of a video. Resolves with a function that tells whether it can be continued. */
async function beginUpload(id: string): Promise<() => Promise<boolean>> {
  const key = `${sourcePrefix(workspaceId, id)}xfr_3/original`;
  const checkpoint = await objects.beginResumable(key);
  return () =>
    objects.resume(key, checkpoint, 9).then(
      async (writer) => {
        await writer.close();
        return true;
      },
      () => false,
    );
}

const FIRST = ['a1/t0.1/audio/0.ts', 'xfr_1/original'];
const SECOND = ['a2/t0.1/audio/0.ts', 'xfr_2/original'];
const NOTHING = { id: 'file', durableBytes: 0, tail: [], laterBytesUntrusted: false };
const NO_FILE = { uploaded_at: null, isStored: false };

test.each<[string, object, string[]]>([
  [
    'waits for its upload keeps every object',
    { ...NO_FILE, status: 'uploading', attempt: 0 },
    [...FIRST, ...SECOND],
  ],
  ['is processed keeps its file and its open attempt', {}, SECOND],
  ['is ready keeps its file and its attempt', READY, SECOND],
  [
    'is ready and whose file is deleted keeps its attempt',
    { ...READY, isStored: false, source_deleted_at: new Date() },
    SECOND.slice(0, 1),
  ],
  ['failed keeps its file', FAILED, SECOND.slice(1)],
  ['failed without an upload keeps nothing', { ...FAILED, ...NO_FILE }, []],
  ['is deleted keeps nothing', { ...FAILED, isStored: false, deleted_at: new Date() }, []],
])('a video that %s', async (_, values, kept) => {
  const id = await video(values);
  const canContinue = await beginUpload(id);
  expect(await purge(id)).toEqual(kept.toSorted());
  expect(await canContinue()).toBe(kept.includes('xfr_1/original'));
});

test('a video that waits for its upload keeps what its transfers may continue, and nothing of the others', async () => {
  const id = await video({ ...NO_FILE, status: 'uploading', attempt: 0 });
  await insertTicket(db, id, {
    transfer_id: 'xfr_2',
    lease_expires_at: new Date(),
    unpurged_bytes: 7,
  });
  for (const [transfer_id, ended_at] of [
    ['xfr_3', null],
    ['xfr_4', new Date()],
  ] as const)
    await db
      .insertInto('resumable_uploads')
      .values({
        transfer_id,
        video_id: id,
        length: 9,
        metadata: '',
        ended_at,
        end_reason: ended_at && 'superseded',
      })
      .execute();
  const sources = sourcePrefix(workspaceId, id);
  for (const tail of ['xfr_3.tail/1-a', 'xfr_4.tail/1-a']) await store(`${sources}${tail}`);
  const canContinue = await beginUpload(id);
  await objects.beginResumable(`${sources}xfr_4/original`);
  // What a form has stored whose engine died.
  await mkdir(join(folder, '.tmp'), { recursive: true });
  const partOf = (transfer: string) =>
    join(folder, '.tmp', `${encodeURIComponent(`${sources}${transfer}/original`)}~any`);
  for (const transfer of ['xfr_1', 'xfr_2']) await writeFile(partOf(transfer), 'part');
  expect(await purge(id)).toEqual([...FIRST.slice(0, 1), ...SECOND, 'xfr_3.tail/1-a'].toSorted());
  expect(await canContinue()).toBe(true);
  await expect(objects.resume(`${sources}xfr_4/original`, NOTHING, 9)).rejects.toThrow();
  expect([existsSync(partOf('xfr_1')), existsSync(partOf('xfr_2'))]).toEqual([false, true]);
});

test('ended transfers count until a pass has removed them, and one that ends meanwhile counts on', async () => {
  const id = await video({ ...NO_FILE, status: 'uploading', attempt: 0 });
  await insertTicket(db, id, { unpurged_bytes: 7 });
  await requestPurge(db, id);
  const unpurged = async () => {
    const tickets = db.selectFrom('upload_tickets').select('unpurged_bytes').where('video_id', '=', id);
    return (await tickets.executeTakeFirstOrThrow()).unpurged_bytes;
  };
  const [outdated] = await purges.claim(10);
  await requestPurge(db, id);
  await purges.perform(outdated as NonNullable<typeof outdated>);
  expect(await unpurged()).toBe(7);
  const [latest] = await purges.claim(10);
  await purges.perform(latest as NonNullable<typeof latest>);
  expect(await unpurged()).toBe(0);
});

test('each pass ends the count of ended transfers', async () => {
  for (const pass of [1, 2, 3]) {
    const id = await video({ ...NO_FILE, status: 'uploading', attempt: 0 });
    await insertTicket(db, id, { unpurged_bytes: 7 });
    await requestPurge(db, id);
    await db.updateTable('object_purges').set({ pass }).where('video_id', '=', id).execute();
    const claimed = (await purges.claim(10)).find(({ videoId }) => videoId === id);
    await purges.perform(claimed as NonNullable<typeof claimed>);
    const ticket = db.selectFrom('upload_tickets').select('unpurged_bytes').where('video_id', '=', id);
    expect([pass, await ticket.executeTakeFirst()]).toEqual([pass, { unpurged_bytes: 0 }]);
  }
});

test('a ready video keeps the tries of tasks with artifacts', async () => {
  const id = await video(READY);
  const ofAttempt = { name: '360p', attempt: ATTEMPT };
  await insertArtifact(db, id, { ...ofAttempt, kind: 'poster', name: '', folder: 't1.2/' });
  await insertArtifact(db, id, { ...ofAttempt, folder: 't2.1/' });
  await insertArtifact(db, id, { ...ofAttempt, first_segment: 1, folder: 't3.1/' });
  const output = attemptPrefix(workspaceId, id, ATTEMPT);
  const kept = ['t1.2/poster.jpg', 't2.1/360p/0.ts', 't3.1/360p/1.ts'];
  for (const name of [...kept, 't1.1/poster.jpg', 't2.2/360p/0.ts', 't2.2/360p/1.ts', 't4.1/360p/0.ts'])
    await store(`${output}${name}`);
  expect(await purge(id)).toEqual([...SECOND, ...kept.map((name) => `a2/${name}`)].toSorted());
});

test('a purge has three passes; the claim of a long one is renewed', async () => {
  await db.deleteFrom('object_purges').execute();
  await requestPurge(db, await video(READY));
  const row = () => db.selectFrom('object_purges').selectAll().executeTakeFirst();
  const secondsUntil = (time: Date | null | undefined) => ((time?.getTime() ?? NOW) - Date.now()) / 1000;
  for (const pass of [1, 2, 3]) {
    await db
      .updateTable('object_purges')
      .set({ due_at: new Date(NOW) })
      .execute();
    expect(await purges.backlog()).toMatchObject({ count: 1 });
    const [claimed] = await purges.claim(9);
    if (claimed === undefined) throw new Error('The purge was not due');
    expect(claimed).toMatchObject({ pass });
    await db
      .updateTable('object_purges')
      .set({ claimed_until: new Date(NOW + 1000) })
      .execute();
    await purges.renew(claimed);
    expect(secondsUntil((await row())?.claimed_until)).toBeGreaterThan(10);
    await purges.perform(claimed);
    if (pass === 3) break;
    const pause = secondsUntil((await row())?.due_at);
    expect(Math.abs(pause - REPEAT_SECONDS * pass)).toBeLessThan(60);
  }
  expect(await row()).toBeUndefined();
});

test('a purge of a video whose row is gone changes nothing', async () => {
  const id = newId('vid');
  await store(`${sourcePrefix(workspaceId, id)}xfr_1/original`);
  expect(await purge(id)).toEqual(['xfr_1/original']);
});

test('a purge of a ready video spares a task that begins meanwhile, and the artifacts of one that ends meanwhile', async () => {
  const id = await video({
    status: 'ready',
    content_key: 'sealed',
    variants: ['360p'],
    target_duration: 6,
    start_timestamp: 0,
  });
  await db.insertInto('attempts').values({ video_id: id, number: ATTEMPT, due_at: new Date() }).execute();
  const task = {
    video_id: id,
    workspace_id: workspaceId,
    attempt: ATTEMPT,
    kind: 'images',
    command: 'task',
    work: '{}',
    frames: 1,
  } as const;
  await db
    .insertInto('tasks')
    .values({ ...task, number: 8 })
    .execute();
  const ofAttempt = attemptPrefix(workspaceId, id, ATTEMPT);
  for (const folder of ['t7.1/', 't8.1/', 't9.1/']) await store(`${ofAttempt}${folder}poster.jpg`);
  const list = objects.list.bind(objects);
  const listing = jest.spyOn(objects, 'list').mockImplementation(async function* (prefix) {
    yield* list(prefix);
    if (prefix !== ofAttempt) return;
    await db
      .insertInto('tasks')
      .values({ ...task, number: 9 })
      .execute();
    await db.deleteFrom('tasks').where('video_id', '=', id).where('number', '=', 8).execute();
    await insertArtifact(db, id, { kind: 'poster', attempt: ATTEMPT, folder: 't8.1/' });
  });
  await purges.perform({ videoId: id, pass: 1, dueAt: new Date() });
  listing.mockRestore();
  const left: string[] = [];
  for await (const { key } of objects.list(ofAttempt)) left.push(key.slice(ofAttempt.length));
  expect(left.filter((key) => key.endsWith('.jpg'))).toEqual(['t8.1/poster.jpg', 't9.1/poster.jpg']);
});
