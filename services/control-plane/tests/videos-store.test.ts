import { newId } from '@framelane/contracts/ids';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import type { PageRequest } from '../src/db/keyset-page.ts';
import type { VideoFilter } from '../src/videos/video-columns.store.ts';
import {
  countedVideos,
  countTasks,
  countVideos,
  fewWithTag,
  findVideo,
  findVideoOrTombstone,
  insertVideo,
  listAttempts,
  listVideos,
  listVideoVersions,
  type NewVideo,
  patchVideo,
} from '../src/videos/videos.store.ts';
import { insertWorkspace } from './support/database.ts';
import {
  insertArtifact,
  insertCaptions,
  insertImport,
  insertRendition,
  insertTicket,
  SOURCE,
} from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db } = opened);
});
beforeEach(async () => {
  workspaceId = await insertWorkspace(db);
});

const NOW = Date.now();
const minutes = (count: number) => new Date(NOW + count * 60_000);

let created = 0;

/** Creates a video. Its creation time is one minute after that of the previous one. */
async function video(difference: Partial<NewVideo> = {}): Promise<string> {
  const id = newId('vid');
  await insertVideo(db, {
    id,
    workspaceId,
    environment: 'live',
    filename: 'any.mp4',
    title: 'Any',
    removeInSeconds: null,
    ...difference,
  });
  created += 1;
  await set(id, { created_at: minutes(created), updated_at: minutes(-1) });
  return id;
}

const set = (videoId: string, values: object) =>
  db.updateTable('videos').set(values).where('id', '=', videoId).execute();

const row = (videoId: string) => findVideoOrTombstone(db, videoId);

test('a new video waits for its upload', async () => {
  const before = Date.now();
  const id = await video({
    environment: 'test',
    title: 'New',
    filename: 'new.mp4',
    metadata: { a: 'b' },
    tags: ['t'],
    passthrough: 'p',
    playbackPolicy: 'signed',
    allowedOrigins: ['https://a.example'],
    keepSource: 3,
    removeInSeconds: 600,
  });
  const stored = await row(id);
  expect(stored).toMatchObject({
    workspace_id: workspaceId,
    environment: 'test',
    status: 'uploading',
    title: 'New',
    filename: 'new.mp4',
    metadata: { a: 'b' },
    tags: ['t'],
    passthrough: 'p',
    playback_policy: 'signed',
    allowed_origins: ['https://a.example'],
    keep_source_days: 3,
  });
  const removal = stored?.remove_at?.getTime() ?? 0;
  expect(removal).toBeGreaterThanOrEqual(before + 600_000);
  expect(removal).toBeLessThanOrEqual(Date.now() + 600_001);
  expect(await row(await video())).toMatchObject({ remove_at: null });
});

describe('a video', () => {
  test('is found in its own workspace until it is deleted; its row stays', async () => {
    const [id, deleted] = [await video({ title: 'Own' }), await video({ title: 'Deleted' })];
    await set(deleted, { deleted_at: minutes(0) });
    expect(await findVideo(db, workspaceId, id)).toMatchObject({ id, title: 'Own' });
    expect(await findVideo(db, await insertWorkspace(db), id)).toBeUndefined();
    expect(await findVideo(db, workspaceId, deleted)).toBeUndefined();
    expect(await row(deleted)).toMatchObject({ id: deleted, title: 'Deleted' });
  });

  test('has the expiry of its own import or ticket', async () => {
    const [imported, uploaded, neither] = [await video(), await video(), await video()];
    await insertImport(db, imported, { shown_url: imported, deadline: minutes(1) });
    await insertTicket(db, uploaded, { expires_at: minutes(2) });
    const found = await Promise.all(
      [imported, uploaded, neither].map((id) => findVideo(db, workspaceId, id)),
    );
    expect(found.map((each) => [each?.upload_expires_at, each?.import?.url])).toEqual([
      [minutes(1), imported],
      [minutes(2), undefined],
      [null, undefined],
    ]);
  });

  test('has its own audio renditions, captions and artifacts', async () => {
    const [id, other] = [await video(), await video()];
    for (const each of [id, other]) await insertRendition(db, each, { channels: 2, label: each });
    await insertRendition(db, id, { name: '360p', width: 640 });
    for (const language of ['fr', 'en']) await insertCaptions(db, id, language);
    await insertCaptions(db, other, 'de');
    await insertArtifact(db, id, { ...SOURCE, bytes: 7 });
    await insertArtifact(db, other, SOURCE);
    const found = await findVideo(db, workspaceId, id);
    expect(found?.audio).toMatchObject([{ name: 'audio', label: id }]);
    expect(found?.captions.map(({ language }) => language)).toEqual(['en', 'fr']);
    expect(found?.stored).toEqual({ source: 7 });
    const without = { audio: null, captions: [], stored: {} };
    expect(await findVideo(db, workspaceId, await video())).toMatchObject(without);
  });

  test('gets only the changes that the owner made', async () => {
    const [id, other] = [await video({ title: 'Old', tags: ['t'] }), await video()];
    const before = [await row(id), await row(other)];
    await patchVideo(db, id, {});
    expect([await row(id), await row(other)]).toEqual(before);
    await patchVideo(db, id, {
      title: 'New',
      metadata: { a: 'b' },
      playbackPolicy: 'signed',
      allowedOrigins: ['https://a.example'],
      keepSource: 3,
    });
    expect(await row(id)).toEqual({
      ...before[0],
      title: 'New',
      metadata: { a: 'b' },
      playback_policy: 'signed',
      allowed_origins: ['https://a.example'],
      keep_source_days: 3,
      updated_at: expect.any(Date),
    });
    expect((await row(id))?.updated_at.getTime()).toBeGreaterThan(
      before[0]?.updated_at.getTime() ?? Infinity,
    );
    expect(await row(other)).toEqual(before[1]);
  });
});

describe('a list', () => {
  const DEFAULT: Required<PageRequest> = { after: undefined, limit: 10, order: 'desc' };
  const list = async (filter: VideoFilter = {}, page: Partial<PageRequest> = {}) => {
    const request = [db, workspaceId, filter, { ...DEFAULT, ...page }] as const;
    const videos = await listVideos(...request);
    expect(await listVideoVersions(...request)).toEqual(videos.map(({ version }) => version));
    return videos.map(({ id }) => id);
  };

  test('has the living videos of one workspace', async () => {
    const newestFirst = [await video(), await video()].toReversed();
    await set(await video(), { deleted_at: minutes(0) });
    await video({ workspaceId: await insertWorkspace(db) });
    for (const filter of [{}, { environment: 'live' }] as const) {
      expect(await list(filter)).toEqual(newestFirst);
      expect(await list(filter, { order: 'asc' })).toEqual(newestFirst.toReversed());
    }
  });

  test('has pages with one row more than their limit', async () => {
    const [first, second, third] = [await video(), await video(), await video()];
    for (const filter of [{}, { environment: 'live' }] as const) {
      expect(await list(filter, { limit: 1 })).toEqual([third, second]);
      const after = { createdAt: minutes(created - 1), id: second };
      expect(await list(filter, { after })).toEqual([first]);
    }
  });

  test.each<[string, VideoFilter, number[]]>([
    ['title', { titleContains: ['oT'] }, [0, 3]],
    ['several words of the title', { titleContains: ['her', 'AN'] }, [0]],
    ['text with wildcards', { titleContains: ['%', '_n'] }, []],
    ['tag', { tag: 'sea' }, [0, 1]],
    ['environment', { environment: 'test' }, [2, 3]],
    ['status', { statuses: ['processing'] }, [1, 3]],
    ['statuses', { statuses: ['uploading', 'processing', 'uploading'] }, [0, 1, 2, 3]],
    ['tag and status', { tag: 'sea', statuses: ['processing'] }, [1]],
    ['environment and status', { environment: 'test', statuses: ['uploading'] }, [2]],
  ])('is filtered by %s', async (_, filter, expected) => {
    const another = await video({ title: 'Another', tags: ['sea', 'sun'] });
    const processing = await video({ tags: ['sea'] });
    const test = await video({ environment: 'test', tags: ['seaside'] });
    const other = await video({ environment: 'test', title: 'Other' });
    const failed = await video({ title: 'Failed' });
    for (const id of [processing, other]) await set(id, { status: 'processing' });
    await set(failed, { status: 'failed', error_code: 'not_a_video' });
    const videos = [another, processing, test, other];
    expect(await list(filter, { order: 'asc' })).toEqual(expected.map((at) => videos[at]));
    expect(await countVideos(db, workspaceId, filter)).toEqual({ count: expected.length, exact: true });
  });

  test('is filtered by the time of creation', async () => {
    const [, second, third] = [await video(), await video(), await video()];
    expect(await list({ createdAfter: minutes(created - 1) })).toEqual([third, second]);
    expect(await list({ createdAfter: minutes(created - 1), createdBefore: minutes(created) })).toEqual([
      second,
    ]);
    expect(await countVideos(db, workspaceId, { createdAfter: minutes(created - 1) })).toEqual({
      count: 2,
      exact: true,
    });
  });
});

describe('a count', () => {
  const LIMIT = 10_000;

  /** Videos that are older than the others of the test. */
  const insertMany = (count: number) =>
    sql`insert into videos (id, workspace_id, environment, status, title, filename, tags, created_at)
      select ${newId('vid')} || n, ${workspaceId}, 'live', 'uploading', 'Many', 'a.mp4', '{many}',
        '1999-01-01'::timestamptz + make_interval(secs => n)
      from generate_series(1, ${count}::int) as n`.execute(db);

  test('is that of the living videos of one workspace', async () => {
    expect(await countVideos(db, workspaceId, {})).toEqual({ count: 0, exact: true });
    await video();
    await set(await video(), { deleted_at: minutes(0) });
    await video({ workspaceId: await insertWorkspace(db) });
    for (const filter of [{}, { environment: 'live' }] as const) {
      expect(await countVideos(db, workspaceId, filter)).toEqual({ count: 1, exact: true });
    }
  });

  test('is exact up to its limit, and reads one row more', async () => {
    await insertMany(LIMIT);
    const all = [{}, { environment: 'live', statuses: ['uploading'] }] as const;
    for (const filter of all) {
      expect(await countVideos(db, workspaceId, filter)).toEqual({ count: LIMIT, exact: true });
    }
    await video({ title: 'New', tags: ['new'] });
    await video();
    for (const filter of all) {
      expect(await countVideos(db, workspaceId, filter)).toEqual({ count: LIMIT, exact: false });
    }
    // The newest videos are searched, and a rare tag is counted exactly.
    expect(await countVideos(db, workspaceId, { titleContains: ['new'] })).toEqual({
      count: 1,
      exact: false,
    });
    expect(await countVideos(db, workspaceId, { titleContains: ['many'], tag: 'many' })).toEqual({
      count: LIMIT - 1,
      exact: false,
    });
    expect(await countVideos(db, workspaceId, { tag: 'new' })).toEqual({ count: 1, exact: true });

    // As in a large table, where PostgreSQL reads the list from an index. In this one it reads all rows and sorts them.
    await db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      await sql`set local enable_bitmapscan = off`.execute(trx);
      await sql`set local enable_sort = off`.execute(trx);
      for (const filter of [...all, { titleContains: ['absent'] }, { tag: 'many' }]) {
        const query = countedVideos(trx, workspaceId, { ...filter, among: undefined });
        const rows = await query.explain<{ 'QUERY PLAN': [{ Plan: Node }] }>('json', sql`analyze`);
        expect(mostRows(rows[0]?.['QUERY PLAN'][0].Plan)).toBe(LIMIT + 1);
      }
    });
  });

  type Node = { 'Actual Rows': number; 'Rows Removed by Filter'?: number; Plans?: Node[] };

  /** The most rows that a node of a plan has read. */
  function mostRows(node: Node | undefined): number {
    if (node === undefined) return 0;
    const read = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
    return Math.max(read, ...(node.Plans ?? []).map(mostRows));
  }
});

test('the living videos of a workspace with a tag are found, newest first', async () => {
  const newestFirst = [await video({ tags: ['t'] }), await video({ tags: ['t', 'u'] })].toReversed();
  await video({ tags: ['u'] });
  await set(await video({ tags: ['t'] }), { deleted_at: minutes(0) });
  await video({ tags: ['t'], workspaceId: await insertWorkspace(db) });
  const rows = await fewWithTag(db, workspaceId, 't').execute();
  expect(rows.map(({ id }) => id)).toEqual(newestFirst);
});

test('a version changes with each row that the record shows', async () => {
  const [id, other] = [await video(), await video()];
  const versions = async () => [
    (await findVideo(db, workspaceId, id))?.version,
    (await findVideo(db, workspaceId, other))?.version,
  ];
  let before = await versions();
  for (const change of [
    () => set(id, { title: 'New' }),
    () => insertImport(db, id),
    () => insertTicket(db, id),
    () => insertRendition(db, id),
    () => insertCaptions(db, id, 'en'),
    () => insertArtifact(db, id, SOURCE),
  ]) {
    await change();
    const after = await versions();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    before = after;
  }
});

test('attempts are the latest ones of the video, by number', async () => {
  const [id, other] = [await video(), await video()];
  const ended = { due_at: minutes(0), outcome: 'failed', finished_at: minutes(0) } as const;
  for (const number of [2, 3, 1])
    for (const video_id of [id, other])
      await db
        .insertInto('attempts')
        .values({ ...ended, video_id, number })
        .execute();
  const attempts = await listAttempts(db, id, 2);
  expect(attempts.map(({ video_id, number }) => [video_id, number])).toEqual([
    [id, 2],
    [id, 3],
  ]);
});

test('the tasks of a plan are counted for each video', async () => {
  const [id, other] = [await video(), await video()];
  await db
    .insertInto('attempts')
    .values([id, other].map((video_id) => ({ video_id, number: 1, due_at: minutes(0) })))
    .execute();
  const task = {
    workspace_id: workspaceId,
    attempt: 1,
    kind: 'piece',
    command: 'task',
    work: '{}',
    frames: 1,
  } as const;
  await db
    .insertInto('tasks')
    .values([
      {
        ...task,
        video_id: id,
        number: 0,
        kind: 'plan',
        command: 'plan',
        work: null,
        result: JSON.stringify({}),
      },
      { ...task, video_id: id, number: 1, result: JSON.stringify({}) },
      { ...task, video_id: id, number: 2, lease_expires_at: minutes(1), started_at: minutes(0) },
      { ...task, video_id: id, number: 3 },
      { ...task, video_id: other, number: 1 },
    ])
    .execute();
  expect(await countTasks(db, id)).toEqual({ total: 3, completed: 1, running: 1 });
  expect(await countTasks(db, await video())).toBeUndefined();
});
