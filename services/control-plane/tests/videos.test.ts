import { newId } from '@framelane/contracts/ids';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { sampleManifest } from './support/manifest.ts';
import { insertVideo } from './support/video-rows.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, purgeRepeatSeconds: 3600 }));
});
afterAll(() => plane.stop());

const get = (path: string) => request(plane.url).get(`/v1${path}`).set(plane.credentials);
const remove = (videoId: string) => request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);

/** Inserts a video that was created at a given time. */
const videoOf = ({
  createdAt,
  ...values
}: {
  createdAt: string;
  title?: string;
  status?: 'uploading' | 'processing';
}) =>
  insertVideo(plane.db, plane.workspaceId, { title: 'Listed', created_at: new Date(createdAt), ...values });

describe('GET /videos/:id', () => {
  test('responds with 404 for an unknown id and for a video of another workspace', async () => {
    const unknown = await get(`/videos/${newId('vid')}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'video_not_found']);

    const workspaceId = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
    const id = await insertVideo(plane.db, workspaceId);
    expect((await get(`/videos/${id}`)).body.code).toBe('video_not_found');
    expect((await remove(id)).status).toBe(404);
    expect(await plane.db.selectFrom('videos').select('deleted_at').where('id', '=', id).execute()).toEqual([
      { deleted_at: null },
    ]);
  });

  test('a ready video has its playlist, its renditions and the properties of its source', async () => {
    const { videoId } = await plane.readyVideo();
    const { body } = await get(`/videos/${videoId}`);
    expect(body).toMatchObject({
      status: 'ready',
      hls: `http://framelane.test/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`,
      variants: ['360p', '480p'],
      duration: 20,
      width: 854,
      height: 480,
      aspectRatio: '16:9',
      frameRate: 25,
      size: 1_000_000,
      progress: 100,
      source: { videoCodec: 'h264', audioCodec: 'aac', sha256: 'ab'.repeat(32) },
      inputIssues: [{ code: 'interlaced' }],
      error: null,
      audioTracks: [
        { name: 'English', language: 'en', role: 'main', channels: 2, surround: false, default: true },
      ],
    });
    expect(body.storageBytes).toBe(1_000_000 + ((480_000 + 900_000 + 96_000) * 20) / 6 + 100_000);
    expect(Date.parse(body.readyAt)).toBeGreaterThanOrEqual(Date.parse(body.uploadedAt));
  });

  test('a video with several audio tracks lists, stores and plays each', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    expect((await get(`/videos/${videoId}`)).body).not.toHaveProperty('audioTracks');
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    const { renditions, ...manifest } = sampleManifest();
    const [audio] = renditions.slice(-1);
    if (!audio) throw new Error('The manifest has no audio');
    const others = [
      { ...audio, name: 'audio2', language: null, label: 'Director', role: 'commentary', channels: 1 },
      { ...audio, name: 'surround', language: 'de', label: 'Deutsch', channels: 6 },
    ] as const;
    const german = { ...audio, language: 'de', label: 'Deutsch' };
    await plane.engine.complete(videoId, attempt, {
      ...manifest,
      renditions: [...renditions.slice(0, -1), german, ...others],
    });
    const { body } = await get(`/videos/${videoId}`);
    expect(body.audioTracks).toEqual([
      { name: 'Deutsch', language: 'de', role: 'main', channels: 2, surround: true, default: true },
      { name: 'Director', language: null, role: 'commentary', channels: 1, surround: false, default: false },
    ]);
    expect(body.storageBytes).toBe(1_000_000 + ((480_000 + 900_000 + 3 * 96_000) * 20) / 6 + 100_000);
    const hls = `/hls/${plane.workspaceId}/${videoId}`;
    const { text } = await get(`${hls}/master.m3u8`).buffer(true);
    expect(text.match(/URI="[^"]+"/g)).toEqual(
      ['audio', 'audio2', 'surround', 'audio2'].map((name) => `URI="${name}/index.m3u8"`),
    );
    const found = ['audio2', 'surround', 'surround2'].map((name) => get(`${hls}/${name}/index.m3u8`));
    expect((await Promise.all(found)).map(({ status }) => status)).toEqual([200, 200, 404]);
    const { body: page } = await get('/videos?limit=1');
    expect(page.data).toMatchObject([
      { id: videoId, audioTracks: [{ name: 'Deutsch' }, { name: 'Director' }] },
    ]);
  });
});

describe('GET /videos', () => {
  const YEAR = '2001';
  const within = `createdAfter=${YEAR}-01-01T00:00:00Z&createdBefore=${YEAR}-12-31T00:00:00Z`;
  let newestFirst: string[];

  beforeAll(async () => {
    const ids: string[] = [];
    for (let month = 1; month <= 7; month += 1) {
      const createdAt = `${YEAR}-0${month}-10T12:00:00.000Z`;
      ids.push(
        await videoOf({
          createdAt,
          title: `Part ${month} 100%`,
          status: month > 5 ? 'processing' : 'uploading',
        }),
      );
    }
    // Two videos with the same time, on either side of a page boundary. Their ids decide the order.
    ids.splice(5, 0, await videoOf({ createdAt: `${YEAR}-05-10T12:00:00.000Z`, title: 'Twin' }));
    newestFirst = ids.reverse();
  });

  const ids = (response: { body: { data: { id: string }[] } }) => response.body.data.map(({ id }) => id);

  test('pages newest first, without gaps or repeats, with a Link to the next page', async () => {
    const seen: string[] = [];
    let path = `/videos?${within}&limit=3`;
    for (let page = 0; page < 3; page += 1) {
      const response = await get(path);
      seen.push(...ids(response));
      expect(response.body.hasMore).toBe(page < 2);
      const link = /^<http:\/\/framelane\.test\/v1(.*)>; rel="next"$/.exec(response.headers.link ?? '');
      expect(link === null).toBe(response.body.nextCursor === null);
      path = link?.[1] ?? '';
      // A video created meanwhile does not shift the pages.
      await videoOf({ createdAt: `${YEAR}-11-0${page + 1}T00:00:00Z` });
    }
    expect(seen).toEqual(newestFirst);
  });

  test('oldest first on request', async () => {
    const first = await get(`/videos?${within}&order=asc&limit=5`);
    const second = await get(`/videos?${within}&order=asc&limit=3&cursor=${first.body.nextCursor}`);
    expect([...ids(first), ...ids(second)]).toEqual(newestFirst.toReversed());
  });

  test('filters by status: once, repeated, as a comma list', async () => {
    const processing = ids(await get(`/videos?${within}&status=processing`));
    expect(processing).toHaveLength(2);
    const both = ids(await get(`/videos?${within}&status=processing&status=uploading&limit=100`));
    expect(both.length).toBeGreaterThan(8);
    expect(ids(await get(`/videos?${within}&status=processing,uploading&limit=100`))).toEqual(both);
    expect(ids(await get(`/videos?${within}&status=processing,processing&status=processing`))).toEqual(
      processing,
    );
    expect(ids(await get(`/videos?${within}&status=ready`))).toEqual([]);
  });

  test('createdAfter is inclusive, createdBefore exclusive', async () => {
    const moment = `${YEAR}-03-10T12:00:00.000Z`;
    expect(
      ids(await get(`/videos?createdAfter=${moment}&createdBefore=${YEAR}-04-10T12:00:00.000Z`)),
    ).toEqual([newestFirst[5]]);
  });

  test('searches the title literally', async () => {
    expect(ids(await get(`/videos?${within}&q=part+3+100%25`))).toEqual([newestFirst[5]]);
    expect(ids(await get(`/videos?${within}&q=${encodeURIComponent('%_')}`))).toEqual([]);
  });

  test('filters by tag, exactly', async () => {
    const { videoId } = await plane.ticket({ filename: 'a.mp4', tags: ['Beach, 2026', 'sea'] });
    await plane.ticket({ filename: 'b.mp4', tags: ['beach, 2026', 'sea side'] });
    expect(ids(await get(`/videos?tag=${encodeURIComponent('Beach, 2026')}`))).toEqual([videoId]);
    expect(ids(await get('/videos?tag=sea&status=uploading'))).toEqual([videoId]);
    expect(ids(await get('/videos?tag=sea&status=ready'))).toEqual([]);
  });

  test('has the total of all pages, if it is asked for', async () => {
    for (const query of [within, `${within}&q=part`, `${within}&status=ready`]) {
      const { body: all } = await get(`/videos?${query}&limit=100`);
      const { body } = await get(`/videos?${query}&limit=2&total=true`);
      expect(body.data).toEqual(all.data.slice(0, 2));
      expect(body.total).toEqual({ count: all.data.length, exact: true });
    }
    for (const query of ['', '&total=false']) {
      expect((await get(`/videos?${within}${query}`)).body).not.toHaveProperty('total');
    }
  });

  test('has no deleted videos, with or without filters', async () => {
    const { videoId } = await plane.ticket({ filename: 'deleted.mp4' });
    const lists = () =>
      Promise.all(
        ['limit=1', 'limit=1&environment=live'].map(async (query) => ids(await get(`/videos?${query}`))),
      );
    expect(await lists()).toEqual([[videoId], [videoId]]);
    await remove(videoId);
    for (const list of await lists()) expect(list).not.toContain(videoId);
  });

  test('filters by a tag of many videos', async () => {
    await sql`insert into videos (id, workspace_id, environment, status, title, filename, tags, created_at)
      select 'vid_' || lpad(n::text, 26, '0'), ${plane.workspaceId}, 'live', 'uploading', 'Many', 'a.mp4', '{many}',
        '1999-01-01'::timestamptz + make_interval(secs => n)
      from generate_series(1, 501) as n`.execute(plane.db);
    const { body } = await get('/videos?tag=many&limit=1&order=asc');
    expect([body.data[0].id, body.hasMore]).toEqual([`vid_${'1'.padStart(26, '0')}`, true]);
    expect(ids(await get('/videos?tag=many&status=ready'))).toEqual([]);
  });

  test('of tags has those in use, the most used first', async () => {
    const tags = async (query: string) => (await get(`/tags?${query}`)).body.data;
    await plane.ticket({ filename: 'a.mp4', tags: ['Ship 100%', 'ship'] });
    await plane.ticket({ filename: 'b.mp4', tags: ['ship', 'shipyard'] });
    const { videoId } = await plane.ticket({ filename: 'c.mp4', tags: ['ship', 'deleted ship'] });
    await remove(videoId);
    expect(await tags('q=SHIP')).toEqual([
      { tag: 'ship', count: 2 },
      { tag: 'Ship 100%', count: 1 },
      { tag: 'shipyard', count: 1 },
    ]);
    expect(await tags('q=100%25')).toEqual([{ tag: 'Ship 100%', count: 1 }]);
    expect(await tags('q=ship&environment=test')).toEqual([]);
    expect(await tags('')).toContainEqual({ tag: 'ship', count: 2 });
  });

  test('filters by environment', async () => {
    expect(ids(await get(`/videos?${within}&environment=test`))).toEqual([]);
    expect(ids(await get(`/videos?${within}&environment=live&limit=2`))).toHaveLength(2);
  });

  test.each([
    ['limit=0', 'query/limit'],
    ['limit=101', 'query/limit'],
    ['limit=x', 'query/limit'],
    ['status=done', 'query/status/0'],
    ['status=ready,done', 'query/status/0'],
    ['order=up', 'query/order'],
    ['createdAfter=yesterday', 'query/createdAfter'],
    ['environment=prod', 'query/environment'],
    ['cursor=nonsense', 'query/cursor'],
    [`cursor=${Buffer.from('["x","y"]').toString('base64url')}`, 'query/cursor'],
  ])('responds with 400 for %s', async (query, field) => {
    const response = await get(`/videos?${query}`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
  });

  test('an unknown parameter is ignored', async () => {
    expect((await get('/videos?colour=red&limit=1')).status).toBe(200);
  });
});

/** Lets the next pass of every purge begin. */
/** Not those whose pass is in progress: it could not end, and would be repeated half a minute later. */
async function makePurgesDue(): Promise<void> {
  await plane.db
    .updateTable('object_purges')
    .set({ due_at: new Date(0) })
    .where('claimed_until', 'is', null)
    .execute();
}

describe('DELETE /videos/:id', () => {
  test.each(['uploading', 'leased', 'processing', 'claimed', 'ready', 'failed'])(
    'a video that is %s responds with 404 at once, and late reports change nothing',
    async (phase) => {
      const { videoId, uploadToken } = await plane.ticket();
      const transfer = phase === 'leased' ? await plane.engine.redeem(uploadToken) : null;
      if (['processing', 'claimed', 'ready', 'failed'].includes(phase))
        await plane.engine.upload(uploadToken);
      const claim = ['claimed', 'ready', 'failed'].includes(phase) ? await plane.engine.claim(videoId) : null;
      if (phase === 'ready') await plane.engine.complete(videoId, claim?.attempt ?? 0);
      if (phase === 'failed') await plane.engine.fail(videoId, 1);
      await plane.objects.put(
        `sources/${plane.workspaceId}/${videoId}/xfr_1/original`,
        Buffer.from('x'),
        'video/mp4',
      );
      await plane.objects.put(
        `hls/${plane.workspaceId}/${videoId}/a1/360p/0.ts`,
        Buffer.from('x'),
        'video/mp2t',
      );

      expect((await remove(videoId)).status).toBe(204);
      expect((await get(`/videos/${videoId}`)).status).toBe(404);
      expect((await remove(videoId)).status).toBe(404);
      expect((await get(`/hls/${plane.workspaceId}/${videoId}/master.m3u8`)).status).toBe(404);
      expect((await get(`/hls/${plane.workspaceId}/${videoId}/key`)).status).toBe(404);

      // Late reports of the engine change nothing.
      if (transfer !== null) {
        const upload = { bytes: 5, sha256: 'cd'.repeat(32) };
        await plane.engine.report('upload.completed', {
          videoId,
          transferId: transfer.transferId,
          ...upload,
        });
      }
      if (claim !== null) await plane.engine.complete(videoId, claim.attempt);
      const row = await plane.db
        .selectFrom('videos')
        .select(['content_key', 'deleted_at'])
        .where('id', '=', videoId)
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ content_key: null, deleted_at: expect.any(Date) });
      // The event of the deletion is the only one.
      expect(await rowsNaming(videoId)).toEqual({ videos: 1, object_purges: 1, webhook_events: 1 });

      const purge = plane.db.selectFrom('object_purges').select('pass').where('video_id', '=', videoId);
      await until(async () => (await purge.executeTakeFirst())?.pass === 2);
      expect(await storedKeys(videoId)).toEqual([]);
      // A disconnected engine stores an object late. The second pass of the purge finds it.
      await plane.objects.put(
        `hls/${plane.workspaceId}/${videoId}/a1/360p/1.ts`,
        Buffer.from('x'),
        'video/mp2t',
      );
      await makePurgesDue();
      await until(async () => (await storedKeys(videoId)).length === 0);
    },
  );

  test('erases all texts of the owner', async () => {
    const written = {
      filename: 'filename-of-the-owner.mp4',
      title: 'Title of the owner',
      metadata: { note: 'metadata of the owner' },
      tags: ['tag-of-the-owner'],
      passthrough: 'passthrough of the owner',
    };
    const { videoId, uploadToken } = await plane.ticket(written);
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'message of the owner' });
    const { body } = await get(`/videos/${videoId}`);
    expect([body.title, body.error.message, body.tags]).toEqual([
      'Title of the owner',
      'message of the owner',
      ['tag-of-the-owner'],
    ]);
    const sha256 = async () =>
      (await plane.db.selectFrom('videos').select('sha256').where('id', '=', videoId).executeTakeFirst())
        ?.sha256;
    expect(await sha256()).toMatch(/^[0-9a-f]{64}$/);
    const ownerTexts = ['of the owner', 'of-the-owner'];
    const tablesWithOwnerTexts = async () => {
      const texts = Object.entries(await rowTexts()).filter(([, text]) =>
        ownerTexts.some((part) => text.includes(part)),
      );
      return texts.map(([table]) => table);
    };
    expect(await tablesWithOwnerTexts()).toContain('videos');
    await remove(videoId).expect(204);
    expect(await tablesWithOwnerTexts()).toEqual([]);
    expect(await sha256()).toBeNull();
  });

  test('a tombstone is pruned once it is old and the objects of its video are purged; later reports change nothing', async () => {
    const { videoId } = await plane.readyVideo();
    const { videoId: unpurged } = await plane.readyVideo();
    const { videoId: fresh } = await plane.readyVideo();
    for (const id of [videoId, unpurged, fresh]) await remove(id).expect(204);
    const purges = plane.db.selectFrom('object_purges').select('video_id');
    await until(async () => {
      await makePurgesDue();
      return (await purges.execute()).length === 0;
    });
    const usage = (await get('/auth/usage').expect(200)).body;

    const deletedDaysAgo = (days: number, ids: string[]) =>
      plane.db
        .updateTable('videos')
        .set({ deleted_at: sql`now() - make_interval(days => ${days})` })
        .where('id', 'in', ids)
        .execute();
    await deletedDaysAgo(30, [videoId, unpurged]);
    await deletedDaysAgo(29, [fresh]);
    // They are pruned by their own age.
    await plane.db.deleteFrom('webhook_events').execute();
    const due_at = new Date(Date.now() + 3_600_000);
    await plane.db.insertInto('object_purges').values({ video_id: unpurged, due_at }).execute();
    await plane.maintain('prune-tombstones');
    expect(await rowsNaming(videoId)).toEqual({});
    expect(await rowsNaming(unpurged)).toEqual({ videos: 1, object_purges: 1 });
    await plane.db.deleteFrom('object_purges').execute();
    await plane.maintain('prune-tombstones');
    expect(await rowsNaming(unpurged)).toEqual({});
    expect(await rowsNaming(fresh)).toEqual({ videos: 1 });
    expect((await get('/auth/usage').expect(200)).body).toEqual({ ...usage, period: expect.any(Object) });
    expect((await get(`/videos/${videoId}`)).status).toBe(404);

    const upload = { bytes: 5, sha256: 'cd'.repeat(32) };
    await plane.engine.report('upload.completed', { videoId, transferId: 'xfr_1', ...upload });
    await plane.engine.complete(videoId, 1);
    expect(await rowsNaming(videoId)).toEqual({});
  });

  /** The rows of each table of the project, as text; those of partitions belong to their table. */
  async function rowTexts(): Promise<Record<string, string>> {
    const { rows: tables } = await sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
      plane.db,
    );
    const texts: Record<string, string> = {};
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`
        select t::text as row from ${sql.table(name)} t`.execute(plane.db);
      texts[name] = rows.map(({ row }) => row).join('\n');
    }
    return texts;
  }

  /** The number of rows that name a video, by table, except the logs of requests and changes: these keep ids, but no texts, for days of their own. */
  async function rowsNaming(videoId: string): Promise<Record<string, number>> {
    const { request_log: _, audit_events: __, ...texts } = await rowTexts();
    const counts = Object.entries(texts).map(([table, text]) => [
      table,
      text.split('\n').filter((line) => line.includes(videoId)).length,
    ]);
    return Object.fromEntries(counts.filter(([, count]) => count !== 0));
  }

  async function storedKeys(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for (const prefix of ['sources', 'hls']) {
      for await (const { key } of plane.objects.list(`${prefix}/${plane.workspaceId}/${videoId}/`))
        keys.push(key);
    }
    return keys;
  }
});
