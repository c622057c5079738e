import { segmentKey } from '@framelane/object-store/object-keys';
import type { components } from '@framelane/openapi/types';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request, { type Test } from 'supertest';
import { ViewMeter } from '../src/analytics/view-meter.ts';
import { sessionIdOf, type ViewReport } from '../src/analytics/view-report.ts';
import { Metrics } from '../src/metrics/metrics.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';

type Analytics = components['schemas']['Analytics'];

const PHONE = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36';
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

let plane: TestControlPlane;
/** Two more control planes on the same database: one behind a proxy that names the country, and one without analytics. */
let proxied: { url: string };
let off: { url: string };
/** The duration of the videos of this file, in seconds. */
const DURATION = 100;

beforeAll(async () => {
  const analytics = { retentionDays: 400, beaconsPerMinute: 0, countryHeader: undefined, enabled: true };
  plane = await startControlPlane((config) => ({ ...config, usageFlushSeconds: 0.1, analytics }));
  proxied = await plane.startAnother({
    trustedProxies: ['127.0.0.1'],
    analytics: { ...analytics, beaconsPerMinute: 2, countryHeader: 'cf-ipcountry' },
  });
  off = await plane.startAnother({ analytics: { ...analytics, enabled: false } });
  await plane.maintain('keep-view-days');
});
afterAll(() => plane.stop());

async function newVideo(): Promise<string> {
  const { videoId } = await plane.readyVideo();
  await plane.db.updateTable('videos').set({ duration: DURATION }).where('id', '=', videoId).execute();
  return videoId;
}

let sessions = 0;
/** The name of a playback that no other has. */
const newSession = () => `session-of-the-test-${sessions++}`;

function send(videoId: string, body: object, headers: Record<string, string> = {}, url = plane.url): Test {
  return request(url)
    .post(`/v1/embed/${plane.workspaceId}/${videoId}/beacons`)
    .set({ 'User-Agent': DESKTOP, ...headers })
    .send(body);
}

const get = (path: string, headers = plane.credentials) => request(plane.url).get(`/v1${path}`).set(headers);

async function figuresOf(videoId: string, query = ''): Promise<Analytics> {
  return (await get(`/analytics/videos/${videoId}${query}`).expect(200)).body;
}

/** The figures of a video when everything is summed up that its players have reported before a last beacon, which is one more view. */
async function settled(videoId: string): Promise<Analytics> {
  const session = newSession();
  await send(videoId, { session, watchSeconds: 1 }, { 'User-Agent': 'The last beacon' }).expect(202);
  await until(async () => {
    const { rows } = await sql`select from view_sessions where session_id = ${sessionIdOf(session)}`.execute(
      plane.db,
    );
    return rows.length > 0;
  });
  await plane.maintain('roll-up-views');
  return figuresOf(videoId);
}

const rowsOf = (videoId: string) =>
  plane.db.selectFrom('view_sessions').selectAll().where('video_id', '=', videoId).execute();

test('a video that nobody has watched has figures, too', async () => {
  const videoId = await newVideo();
  expect(await figuresOf(videoId)).toEqual({
    enabled: true,
    period: { from: expect.stringMatching(/-01T00:00:00.000Z$/), to: expect.any(String) },
    views: 0,
    uniqueViewers: 0,
    watchSeconds: 0,
    averagePercentage: null,
    stalls: { count: 0, seconds: 0 },
    startupTime: { p50: null, p95: null },
    renditions: [],
    errors: [],
    devices: [],
    countries: [],
    retention: [],
  });
});

test('beacons become figures, by day, of the video and of the workspace', async () => {
  const videoId = await newVideo();
  const before: Analytics = (await get('/analytics').expect(200)).body;
  await send(videoId, {
    session: newSession(),
    watched: [
      { from: 0, to: 20, height: 720 },
      { from: 20, to: 49.5, height: 1080 },
    ],
    watchSeconds: 60,
    startupSeconds: 0.4,
    stalls: 2,
    stallSeconds: 1.5,
  }).expect(202);
  await send(
    videoId,
    {
      session: newSession(),
      watched: [{ from: 0, to: 100, height: 360 }],
      watchSeconds: 100,
      startupSeconds: 2,
    },
    { 'User-Agent': PHONE },
  ).expect(202);
  await send(videoId, { session: newSession(), error: 'unsupported' }).expect(202);
  const figures = await settled(videoId);
  expect(figures).toEqual({
    enabled: true,
    period: expect.anything(),
    views: 3,
    uniqueViewers: 3,
    watchSeconds: 161,
    averagePercentage: 50,
    stalls: { count: 2, seconds: 1.5 },
    startupTime: { p50: 0.466, p95: 2.22 },
    renditions: [
      { rendition: '360p', watchSeconds: 100 },
      { rendition: '1080p', watchSeconds: 30 },
      { rendition: '720p', watchSeconds: 20 },
    ],
    errors: [{ code: 'unsupported', playbacks: 1 }],
    devices: [
      { device: 'desktop', views: 1 },
      { device: 'other', views: 1 },
      { device: 'phone', views: 1 },
    ],
    countries: [],
    retention: [...Array(50).fill(66.7), ...Array(50).fill(33.3)],
  });
  const today = new Date().toISOString().slice(0, 10);
  const { days } = await figuresOf(videoId, `?groupBy=day&from=${today}`);
  const { views, uniqueViewers, watchSeconds, averagePercentage, stalls } = figures;
  expect(days).toEqual([{ date: today, views, uniqueViewers, watchSeconds, averagePercentage, stalls }]);
  const after: Analytics = (await get('/analytics').expect(200)).body;
  expect(after.views - before.views).toBe(3);
  expect(after.retention).toBeUndefined();
  expect((await get('/analytics?environment=test').expect(200)).body.views).toBe(0);
});

test('the workspace has its most watched videos, with titles for those who may read them', async () => {
  const few = await newVideo();
  const many = await newVideo();
  for (const [videoId, views] of [
    [few, 30],
    [many, 40],
  ] as const) {
    await sql`insert into view_sessions (day, video_id, session_id, watched, watched_at_rungs, stalled, watch_ms, stalls, stall_ms, device)
      select (now() at time zone 'UTC')::date, ${videoId}, gen_random_uuid(), repeat('1', 25)::bit(100), repeat('0', 400)::bit(400), repeat('0', 100)::bit(100), 500, 0, 0, 'tv'
      from generate_series(1, ${views}::int)`.execute(plane.db);
    await sql`insert into view_changes (video_id, day) values (${videoId}, (now() at time zone 'UTC')::date)`.execute(
      plane.db,
    );
  }
  await plane.maintain('roll-up-views');
  const { topVideos = [] }: Analytics = (await get('/analytics').expect(200)).body;
  const figures = { title: expect.any(String), averagePercentage: 25 };
  expect(topVideos.slice(0, 2)).toEqual([
    { ...figures, videoId: many, views: 40, watchSeconds: 20 },
    { ...figures, videoId: few, views: 30, watchSeconds: 15 },
  ]);
  const { body } = await request(plane.url)
    .post('/v1/api-keys')
    .set(plane.credentials)
    .send({ name: 'Figures', permissions: ['analytics:read'] })
    .expect(201);
  const headers = { ...plane.credentials, authorization: `Bearer ${body.secret}` };
  const seen: Analytics = (await get('/analytics', headers).expect(200)).body;
  expect(seen.topVideos?.[0]).toEqual({ ...topVideos[0], title: null });
});

test('a playback counts once, however often and in whatever order its beacons arrive, at any control plane', async () => {
  const videoId = await newVideo();
  const session = newSession();
  const early = { session, watched: [{ from: 0, to: 10 }], watchSeconds: 10, startupSeconds: 0.3, stalls: 1 };
  const late = { session, watched: [{ from: 10, to: 30 }], watchSeconds: 30, startupSeconds: 0.3, stalls: 3 };
  for (const body of [late, early, late]) await send(videoId, body).expect(202);
  const first = await settled(videoId);
  expect(first).toMatchObject({ views: 2, watchSeconds: 31, stalls: { count: 3 } });
  expect(first.retention?.filter((share) => share > 0)).toHaveLength(30);
  for (const body of [early, late]) await send(videoId, body, {}, proxied.url).expect(202);
  const second = await settled(videoId);
  expect(second).toMatchObject({
    views: 3,
    watchSeconds: 32,
    stalls: { count: 3 },
    startupTime: first.startupTime,
  });
  // Summing up again changes nothing.
  await plane.maintain('roll-up-views', 'keep-view-days');
  expect(await figuresOf(videoId)).toMatchObject({ ...second, period: expect.anything() });
});

test('a viewer counts once a day: for a video, and for the workspace', async () => {
  const [one, two] = [await newVideo(), await newVideo()];
  const before: Analytics = (await get('/analytics').expect(200)).body;
  const viewer = { 'User-Agent': `${DESKTOP} of one viewer` };
  for (const videoId of [one, one, two]) {
    await send(videoId, { session: newSession(), watchSeconds: 5 }, viewer).expect(202);
  }
  expect(await settled(one)).toMatchObject({ views: 3, uniqueViewers: 2 });
  expect(await settled(two)).toMatchObject({ views: 2, uniqueViewers: 2 });
  const after: Analytics = (await get('/analytics').expect(200)).body;
  // The viewer of the last beacons may have been there before.
  expect(after.uniqueViewers - before.uniqueViewers).toBeLessThanOrEqual(2);
  expect(after.uniqueViewers - before.uniqueViewers).toBeGreaterThanOrEqual(1);
});

describe('requests for segments with client data (CMCD)', () => {
  const segment = (videoId: string, name: string, headers: Record<string, string> = {}, query = '') =>
    request(plane.url)
      .get(`/v1/hls/${plane.workspaceId}/${videoId}/${name}${query}`)
      .set({ 'User-Agent': PHONE, ...headers });

  /** A video whose first segments of 360p and of the audio are stored. */
  async function storedVideo(): Promise<string> {
    const videoId = await newVideo();
    for (const [rendition, count] of [
      ['360p', 4],
      ['audio', 4],
    ] as const) {
      for (let sequence = 0; sequence < count; sequence++) {
        const output = { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER };
        await plane.objects.put(
          segmentKey(output, rendition, sequence, 'ts'),
          Buffer.alloc(16),
          'video/mp2t',
        );
      }
    }
    await plane.db
      .updateTable('renditions')
      .set({ segment_bytes: [16, 16, 16, 16], segment_durations: [10, 10, 20, 60] })
      .where('video_id', '=', videoId)
      .where('name', 'in', ['360p', 'audio'])
      .execute();
    return videoId;
  }

  test('become views: in the query or in headers, repeated or not', async () => {
    const videoId = await storedVideo();
    const sid = newSession();
    const query = (data: string) => `?CMCD=${encodeURIComponent(`ot=v,${data},sid="${sid}"`)}`;
    for (const sequence of [0, 1, 1]) {
      await segment(videoId, `360p/${sequence}.ts`, {}, query(sequence === 1 ? 'bs' : 'su')).expect(200);
    }
    await segment(videoId, '360p/2.ts', { 'CMCD-Session': `sid="${sid}"`, 'CMCD-Status': 'bs' }).expect(200);
    await segment(videoId, 'audio/2.ts', { 'CMCD-Session': `sid="${sid}"`, 'CMCD-Status': 'bs' }).expect(200);
    // As a program sends them that reads the log of a CDN.
    await request(plane.url)
      .head(`/v1/hls/${plane.workspaceId}/${videoId}/360p/2.ts${query('bs')}`)
      .expect(200);
    const figures = await settled(videoId);
    expect(figures).toMatchObject({
      views: 2,
      watchSeconds: 41,
      stalls: { count: 2, seconds: 0 },
      renditions: [{ rendition: '360p', watchSeconds: 40 }],
      startupTime: { p50: null, p95: null },
    });
    expect(figures.retention).toEqual([...Array(40).fill(50), ...Array(60).fill(0)]);
    expect(figures.devices).toContainEqual({ device: 'phone', views: 1 });
  });

  test('of one network have a limit', async () => {
    const videoId = await storedVideo();
    const requestFrom = (address: string, session: string) =>
      request(proxied.url)
        .get(`/v1/hls/${plane.workspaceId}/${videoId}/360p/0.ts`)
        .set({ 'X-Forwarded-For': address, 'CMCD-Session': `sid="${session}"` });
    const last = newSession();
    for (let count = 0; count < 4; count++) await requestFrom('192.0.2.81', newSession()).expect(200);
    await requestFrom('192.0.2.82', last).expect(200);
    const isStored = async () =>
      (await rowsOf(videoId)).some(({ session_id }) => session_id === sessionIdOf(last));
    await until(isStored);
    expect(await rowsOf(videoId)).toHaveLength(3);
  });

  test('count for nothing without a session, for a missing segment, and if the viewer refuses', async () => {
    const videoId = await storedVideo();
    const session = { 'CMCD-Session': `sid="${newSession()}"` };
    await segment(videoId, '360p/0.ts', { 'CMCD-Session': 'sid=""' }).expect(200);
    await segment(videoId, '360p/0.ts', {}, '?CMCD=bs').expect(200);
    await segment(videoId, '360p/0.ts', {}, '?CMCD=a&CMCD=b').expect(200);
    await segment(videoId, '360p/0.ts').expect(200);
    await segment(videoId, '360p/99.ts', session).expect(404);
    await segment(videoId, '360p/0.ts', { ...session, 'Sec-GPC': '1' }).expect(200);
    await settled(videoId);
    expect(await rowsOf(videoId)).toHaveLength(1);
  });
});

describe('privacy', () => {
  test.each([{ 'Sec-GPC': '1' }, { DNT: '1' }])('%p stores nothing', async (headers) => {
    const videoId = await newVideo();
    await send(videoId, { session: newSession(), watchSeconds: 5 }, headers as Record<string, string>).expect(
      202,
    );
    expect(await settled(videoId)).toMatchObject({ views: 1 });
    expect(await rowsOf(videoId)).toHaveLength(1);
  });

  test('an installation without analytics stores nothing', async () => {
    const videoId = await newVideo();
    await send(videoId, { session: newSession(), watchSeconds: 5 }, {}, off.url).expect(202);
    expect(await settled(videoId)).toMatchObject({ views: 1 });
    const { body } = await request(off.url).get('/v1/analytics').set(plane.credentials).expect(200);
    expect(body.enabled).toBe(false);
  });

  test('no row has the address, the session of the player or the browser', async () => {
    const videoId = await newVideo();
    const session = newSession();
    await send(
      videoId,
      { session, watchSeconds: 5 },
      { 'X-Forwarded-For': '192.0.2.7', 'CF-IPCountry': 'fr' },
      proxied.url,
    );
    await until(async () => (await rowsOf(videoId)).length > 0);
    const [row] = await rowsOf(videoId);
    expect(row).toMatchObject({ country: 'FR', device: 'desktop' });
    const text = JSON.stringify(row);
    for (const secret of [session, '192.0.2.7', 'Firefox']) expect(text).not.toContain(secret);
  });

  test("the salts of earlier days are deleted, and today's stays", async () => {
    await sql`insert into view_salts values (current_date - 3, '\\x01')`.execute(plane.db);
    await plane.maintain('keep-view-days');
    const { rows } = await sql`select from view_salts`.execute(plane.db);
    expect(rows).toHaveLength(1);
  });
});

test('a country counts only if the configured header names it', async () => {
  const videoId = await newVideo();
  await send(videoId, { session: newSession(), watchSeconds: 5 }, { 'CF-IPCountry': 'DE' }).expect(202);
  expect((await settled(videoId)).countries).toEqual([]);
});

test('beacons of one network have a limit', async () => {
  const videoId = await newVideo();
  const from = (address: string) =>
    send(videoId, { session: newSession() }, { 'X-Forwarded-For': address }, proxied.url);
  expect([(await from('192.0.2.1')).status, (await from('192.0.2.1')).status]).toEqual([202, 202]);
  const { status, body } = await from('192.0.2.1');
  expect([status, body.code]).toEqual([429, 'rate_limited']);
  await from('192.0.2.2').expect(202);
});

test.each([
  ['no session', {}, 'body/session'],
  ['a short session', { session: 'x' }, 'body/session'],
  ['a session with other characters', { session: '"'.repeat(16) }, 'body/session'],
  ['a negative time', { session: 'x'.repeat(16), watchSeconds: -1 }, 'body/watchSeconds'],
  ['a time of years', { session: 'x'.repeat(16), watchSeconds: 1e9 }, 'body/watchSeconds'],
  ['an unknown error', { session: 'x'.repeat(16), error: 'x' }, 'body/error'],
  ['a field of its own', { session: 'x'.repeat(16), address: 'x' }, 'body/address'],
  [
    'too many ranges',
    { session: 'x'.repeat(16), watched: Array(61).fill({ from: 0, to: 1 }) },
    'body/watched',
  ],
])('a beacon with %s gets 400', async (_, body, field) => {
  const response = await send('vid_x', body).expect(400);
  expect(response.body.errors[0].field).toBe(field);
});

test('a beacon for no video, or for a video under another workspace, stores nothing', async () => {
  const videoId = await newVideo();
  await send('vid_01m7y5g5zqfqetgq1je8rn7s3t', { session: newSession(), watchSeconds: 5 }).expect(202);
  await request(plane.url)
    .post(`/v1/embed/ws_01m7y5g5zrfqetgq22xjmkgf70/${videoId}/beacons`)
    .send({ session: newSession(), watchSeconds: 5 })
    .expect(202);
  expect(await settled(videoId)).toMatchObject({ views: 1 });
  expect(await rowsOf('vid_01m7y5g5zqfqetgq1je8rn7s3t')).toEqual([]);
});

test('the deletion of a video deletes its figures, and what is reported afterwards', async () => {
  const videoId = await newVideo();
  expect(await settled(videoId)).toMatchObject({ views: 1 });
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  const { rows } = await sql`select from views_daily where video_id = ${videoId}`.execute(plane.db);
  expect(rows).toEqual([]);
  await get(`/analytics/videos/${videoId}`).expect(404);
  await plane.maintain('roll-up-views');
  expect(await rowsOf(videoId)).toEqual([]);
  // As if a control plane had checked the video before its deletion.
  await sql`insert into view_sessions (day, video_id, session_id, watched, watched_at_rungs, stalled, stalls, stall_ms, device)
    values ((now() at time zone 'UTC')::date, ${videoId}, gen_random_uuid(), repeat('1', 100)::bit(100), repeat('1', 400)::bit(400), repeat('0', 100)::bit(100), 0, 0, 'tv')`.execute(
    plane.db,
  );
  await sql`insert into view_changes (video_id, day) values (${videoId}, (now() at time zone 'UTC')::date)`.execute(
    plane.db,
  );
  await plane.maintain('roll-up-views');
  expect(await rowsOf(videoId)).toEqual([]);
});

describe('the days', () => {
  test('a playback over midnight belongs to the day on which it began', async () => {
    const videoId = await newVideo();
    const session = newSession();
    await sql`insert into view_sessions (day, video_id, session_id, watched, watched_at_rungs, stalled, watch_ms, stalls, stall_ms, device)
      values ((now() at time zone 'UTC')::date - 1, ${videoId}, ${sessionIdOf(session)}, repeat('0', 100)::bit(100), repeat('0', 400)::bit(400), repeat('0', 100)::bit(100),
        1000, 0, 0, 'tv')`.execute(plane.db);
    await send(videoId, { session, watchSeconds: 50 }).expect(202);
    await settled(videoId);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const { days } = await figuresOf(videoId, `?groupBy=day&from=${yesterday}`);
    expect(days?.map(({ views, watchSeconds }) => [views, watchSeconds])).toEqual([
      [1, 50],
      [1, 1],
    ]);
  });

  test('reports and figures are deleted when they are old', async () => {
    const videoId = await newVideo();
    await sql`create table view_sessions_20260101 partition of view_sessions for values from ('2026-01-01') to ('2026-01-02')`.execute(
      plane.db,
    );
    await sql`insert into view_sessions (day, video_id, session_id, watched, watched_at_rungs, stalled, watch_ms, stalls, stall_ms, device)
      values ('2026-01-01', ${videoId}, gen_random_uuid(), repeat('0', 100)::bit(100), repeat('0', 400)::bit(400), repeat('0', 100)::bit(100), 1000, 0, 0, 'tv')`.execute(
      plane.db,
    );
    await sql`insert into view_changes (video_id, day) values (${videoId}, '2026-01-01')`.execute(plane.db);
    await plane.maintain('keep-view-days');
    // The old day was summed up first, and its figures are younger than the retention.
    expect(await rowsOf(videoId)).toEqual([]);
    const figures = () => figuresOf(videoId, '?from=2026-01-01&to=2026-01-02');
    expect(await figures()).toMatchObject({ views: 1, watchSeconds: 1 });
    await sql`update views_daily set day = '2020-01-01' where video_id = ${videoId}`.execute(plane.db);
    await plane.maintain('keep-view-days');
    const { rows } = await sql`select from views_daily where video_id = ${videoId}`.execute(plane.db);
    expect(rows).toEqual([]);
  });
});

test('a video that cannot be summed up does not stop the others, and old reports are deleted all the same', async () => {
  const [failing, other] = [await newVideo(), await newVideo()];
  await sql`create table view_sessions_20260202 partition of view_sessions for values from ('2026-02-02') to ('2026-02-03')`.execute(
    plane.db,
  );
  // In the place of reports that take too long: a sum that no number of the figures can hold.
  await sql`update videos set duration = 'Infinity' where id = ${failing}`.execute(plane.db);
  await sql`insert into view_sessions (day, video_id, session_id, watched, watched_at_rungs, stalled, stalls, stall_ms, device)
    values ((now() at time zone 'UTC')::date, ${failing}, gen_random_uuid(), repeat('1', 100)::bit(100), repeat('1', 400)::bit(400), repeat('0', 100)::bit(100), 0, 0, 'tv')`.execute(
    plane.db,
  );
  await sql`insert into view_changes (video_id, day) values (${failing}, (now() at time zone 'UTC')::date)`.execute(
    plane.db,
  );
  expect(await settled(other)).toMatchObject({ views: 1 });
  const failed = await plane.db
    .selectFrom('view_changes')
    .select('video_id')
    .where('video_id', '=', failing)
    .execute();
  expect(failed).toHaveLength(1);
  await plane.maintain('keep-view-days');
  const { rows } = await sql`select where to_regclass('view_sessions_20260202') is null`.execute(plane.db);
  expect(rows).toHaveLength(1);
  await plane.db.updateTable('videos').set({ duration: DURATION }).where('id', '=', failing).execute();
  await plane.maintain('roll-up-views');
  expect(await figuresOf(failing)).toMatchObject({ views: 1 });
});

test('a day of 400,000 playbacks is summed up in slices, each counted once', async () => {
  const videoId = await newVideo();
  const day = sql`(now() at time zone 'UTC')::date`;
  // Four of five are views, by 300,000 viewers. Every tenth watched only the first half, and a hundredth reports an error.
  for (let first = 1; first < 400_000; first += 20_000) {
    await sql`
    insert into view_sessions (day, video_id, session_id, visitor, watched, watched_at_rungs, stalled, watch_ms, startup_ms, stalls, stall_ms, error, device)
    select ${day}, ${videoId}, md5('large day ' || n)::uuid, substring(decode(md5('viewer ' || n % 300000), 'hex') for 8),
      case when n % 5 = 0 then repeat('0', 100) when n % 10 = 1 then repeat('1', 50) || repeat('0', 50) else repeat('1', 100) end::bit(100),
      repeat('0', 400)::bit(400), repeat('0', 100)::bit(100), case when n % 5 = 0 then 0 else 1000 end, 400, n % 2, n % 2 * 10,
      case when n % 100 = 0 then 'interrupted' end, 'phone'
    from generate_series(${first}::int, ${first + 19_999}::int) as n`.execute(plane.db);
  }
  await sql`insert into view_changes (video_id, day) values (${videoId}, ${day})`.execute(plane.db);
  const before: Analytics = (await get('/analytics').expect(200)).body;
  await plane.maintain('roll-up-views');
  const figures = await figuresOf(videoId);
  expect(figures).toMatchObject({
    views: 320_000,
    watchSeconds: 320_000,
    averagePercentage: 93.8,
    stalls: { count: 200_000, seconds: 2000 },
    startupTime: { p50: 0.466, p95: 0.466 },
    devices: [{ device: 'phone', views: 320_000 }],
    errors: [{ code: 'interrupted', playbacks: 4000 }],
    renditions: [],
  });
  expect(figures.retention).toEqual([...Array(50).fill(100), ...Array(50).fill(87.5)]);
  // Beyond 100,000, viewers are estimated. Each of the 300,000 whose number is no multiple of 5 has views.
  expect(Math.abs(figures.uniqueViewers - 240_000)).toBeLessThan(12_000);
  const after: Analytics = (await get('/analytics').expect(200)).body;
  expect(after.views - before.views).toBe(320_000);
  expect(Math.abs(after.uniqueViewers - figures.uniqueViewers)).toBeLessThan(1000);
  // Its changes have ended: nothing is left to do.
  const { rows } = await sql`select from view_changes where video_id = ${videoId}`.execute(plane.db);
  expect(rows).toEqual([]);
});

test('figures that count more views than the reports stay, as after a restore', async () => {
  const videoId = await newVideo();
  expect(await settled(videoId)).toMatchObject({ views: 1 });
  await sql`update views_daily set views = 1000 where video_id = ${videoId}`.execute(plane.db);
  expect(await settled(videoId)).toMatchObject({ views: 1000 });
});

test('reports need the permission analytics:read', async () => {
  const { body } = await request(plane.url)
    .post('/v1/api-keys')
    .set(plane.credentials)
    .send({ name: 'Another', permissions: ['usage:read'] });
  const headers = { ...plane.credentials, authorization: `Bearer ${body.secret}` };
  for (const path of ['/analytics', `/analytics/videos/${await newVideo()}`]) {
    expect((await get(path, headers)).body.code).toBe('insufficient_permissions');
  }
});

describe('the reports that wait', () => {
  const reportOf = (videoId: string, watchMs: number): ViewReport => ({
    day: new Date().toISOString().slice(0, 10),
    workspaceId: plane.workspaceId,
    videoId,
    sessionId: sessionIdOf(newSession()),
    visitor: Buffer.alloc(8),
    device: 'tv',
    country: null,
    watched: [],
    segments: [],
    watchMs,
    startupMs: null,
    stalls: 0,
    stallMs: 0,
    error: null,
  });
  const meterOn = (db: TestControlPlane['db'], metrics = new Metrics()) =>
    new ViewMeter({
      db,
      metrics,
      logger: createLogger({ service: 'test', level: 'silent' }),
      flushSeconds: 3600,
    });

  test('are stored at the stop; a failed write is repeated', async () => {
    const videoId = await newVideo();
    let fails = true;
    const failing = new Proxy(plane.db, {
      get: (db, name) => {
        if (fails && name === 'getExecutor') throw new Error('The database is away');
        const value = Reflect.get(db, name, db);
        return typeof value === 'function' ? value.bind(db) : value;
      },
    });
    const meter = meterOn(failing);
    meter.add(reportOf(videoId, 1000));
    await meter.flush();
    expect(await rowsOf(videoId)).toEqual([]);
    fails = false;
    await meter.stop();
    expect(await rowsOf(videoId)).toHaveLength(1);
  });

  test.each(['2000-01-01', '2100-01-01'])('of %s, from a wrong clock, do not keep others', async (day) => {
    const videoId = await newVideo();
    const meter = meterOn(plane.db);
    meter.add({ ...reportOf(videoId, 1000), day });
    const report = reportOf(videoId, 2000);
    meter.add(report);
    await meter.flush();
    expect(await rowsOf(videoId)).toMatchObject([{ session_id: report.sessionId }]);
  });

  test.each([
    ['', 0, 12_500],
    [', also with many ranges,', 60, 3125],
  ])('of one workspace%s leave room for those of others', async (_, ranges, fitting) => {
    const metrics = new Metrics();
    const meter = meterOn(plane.db, metrics);
    const watched = Array(ranges).fill({ from: 0, to: 1 });
    for (let count = 0; count < fitting + 500; count++)
      meter.add({ ...reportOf('vid_x', 1), workspaceId: 'ws_greedy', watched });
    meter.add(reportOf('vid_x', 1));
    const counted = await metrics.registry.getSingleMetric('framelane_view_reports_total')?.get();
    expect(counted?.values.map(({ value }) => value)).toEqual([fitting + 1, 500]);
    await meter.stop();
  });
});
