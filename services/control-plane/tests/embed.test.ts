import { newId } from '@framelane/contracts/ids';
import { imageKey } from '@framelane/object-store/object-keys';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import type { ControlPlaneConfig } from '../src/config.ts';
import { playbackTokenKey, signPlaybackToken } from '../src/playback/playback-token.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';

let plane: TestControlPlane;
let contentKeySecret: Uint8Array;
beforeAll(async () => {
  const keepSecret = (config: ControlPlaneConfig) => {
    contentKeySecret = config.secrets.contentKey;
    return config;
  };
  plane = await startControlPlane(keepSecret, { presign: async (key) => `https://objects.example/${key}` });
});
afterAll(() => plane.stop());

const pathOf = (videoId: string) => `/v1/embed/${plane.workspaceId}/${videoId}`;
const embedUrlOf = (videoId: string) => `http://framelane.test${pathOf(videoId)}`;
const page = (videoId: string, query = '', url = plane.url) => request(url).get(`${pathOf(videoId)}${query}`);
const state = (videoId: string, query = '') => request(plane.url).get(`${pathOf(videoId)}/state${query}`);
const oEmbed = (query: Record<string, string>) => request(plane.url).get('/v1/oembed').query(query);

async function patch(videoId: string, body: object): Promise<void> {
  const response = await request(plane.url).patch(`/v1/videos/${videoId}`).set(plane.credentials).send(body);
  expect(response.status).toBe(200);
}

async function tokenFor(videoId: string, expiresIn = 60): Promise<string> {
  const path = `/v1/videos/${videoId}/playback-tokens`;
  const response = await request(plane.url).post(path).set(plane.credentials).send({ expiresIn });
  return response.body.token;
}

/** A token that has expired. */
function expiredTokenFor(videoId: string): Promise<string> {
  const [issuedAt, expiresAt] = [new Date('2026-01-01'), new Date('2026-01-02')];
  return signPlaybackToken(playbackTokenKey(contentKeySecret), {
    videoId,
    issuedAt,
    expiresAt,
    allowDownloads: false,
  });
}

/** The state in the page, which its script reads. */
function stateIn(html: string): unknown {
  const [, text = ''] = /<script type="application\/json" id="state">(.*)<\/script>/.exec(html) ?? [];
  return JSON.parse(text);
}

/** A signed video that waits for its file. */
async function signedVideo(): Promise<string> {
  const { videoId } = await plane.ticket({
    filename: 'a.mp4',
    title: 'A secret title',
    playbackPolicy: 'signed',
    allowedOrigins: ['https://customer.example'],
  });
  return videoId;
}

describe('the page', () => {
  test('has the state of a ready video, with paths instead of URLs', async () => {
    const { videoId } = await plane.readyVideo();
    const stream = `/v1/hls/${plane.workspaceId}/${videoId}`;
    const { status, text } = await page(videoId);
    expect(status).toBe(200);
    expect(stateIn(text)).toEqual({
      status: 'ready',
      title: 'holiday',
      progress: 100,
      attempt: 1,
      audioOnly: false,
      hls: `${stream}/master.m3u8`,
      poster: `${stream}/poster.jpg`,
      chapters: null,
      storyboard: `${stream}/storyboard.vtt`,
    });
    expect(text).toContain('<title>holiday</title>');
    expect(text).toContain(`/v1/oembed?url=${encodeURIComponent(embedUrlOf(videoId))}`);
  });

  test('a title cannot break out of the page', async () => {
    const { videoId } = await plane.ticket({ filename: 'a.mp4', title: '</script><b onclick="x">$& & "' });
    const { text } = await page(videoId);
    expect(text).not.toContain('<b onclick');
    expect(text).toContain(
      '<title>&lt;/script&gt;&lt;b onclick=&quot;x&quot;&gt;$&amp; &amp; &quot;</title>',
    );
    expect(stateIn(text)).toMatchObject({ title: '</script><b onclick="x">$& & "' });
  });

  test('has a strict policy, is not stored and sets no cookie', async () => {
    const { videoId } = await plane.ticket();
    const { headers } = await page(videoId);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' ('sha256-[\w+/]{43}=' ?)+; img-src/,
    );
    expect(policy).toMatch(/connect-src 'self'; media-src 'self' blob: data:; .*; frame-ancestors \*$/);
    expect(policy).not.toMatch(/unsafe|eval|https?:/);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers).not.toHaveProperty('x-frame-options');
  });

  test('its files are compressed, can be cached forever and loaded in a sandboxed frame; others do not exist', async () => {
    const { videoId } = await plane.ticket();
    const { text } = await page(videoId);
    const files = [...text.matchAll(/(?:src|href)="(\/v1\/embed\/files\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(files.map((path) => path.split('.').at(-1)).sort()).toEqual(['css', 'js']);
    for (const path of files) {
      const { status, headers } = await request(plane.url).get(path);
      expect([status, headers['cache-control'], headers['content-encoding']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
        'gzip',
      ]);
      expect(headers['access-control-allow-origin']).toBe('*');
    }
    for (const name of ['none.js', '..%2Findex.html', '..%2F..%2F..%2Fpackage.json']) {
      const response = await request(plane.url).get(`/v1/embed/files/${name}`);
      expect([name, response.status, response.body.code]).toEqual([name, 404, 'route_not_found']);
    }
  });

  test('may load segments from the CDN, or from the object store', async () => {
    const { videoId } = await plane.ticket();
    const cdn = await plane.startAnother({ playback: { mode: 'proxy', cdnUrl: 'https://cdn.example/path' } });
    const redirecting = await plane.startAnother({ playback: { mode: 'redirect', cdnUrl: undefined } });
    const policies = await Promise.all(
      [cdn, redirecting].map(
        async ({ url }) => (await page(videoId, '', url)).headers['content-security-policy'],
      ),
    );
    expect(policies[0]).toContain("connect-src 'self' https://cdn.example;");
    expect(policies[1]).toContain("connect-src 'self' https://objects.example;");
  });
});

describe('who may show the page in a frame', () => {
  const ancestorsOf = async (videoId: string, query = '', url = plane.url) =>
    /frame-ancestors (.*)$/.exec(
      String((await page(videoId, query, url)).headers['content-security-policy']),
    )?.[1];

  test('the origins of the video, or else those of the installation, or else all', async () => {
    const restricted = await plane.startAnother({ embedOrigins: ['https://www.example.com'] });
    const { videoId } = await plane.ticket();
    expect(await ancestorsOf(videoId)).toBe('*');
    expect(await ancestorsOf(videoId, '', restricted.url)).toBe("'self' https://www.example.com");
    await patch(videoId, { allowedOrigins: ['https://a.example', 'http://*.b.example:8000'] });
    expect(await ancestorsOf(videoId, '', restricted.url)).toBe(
      "'self' https://a.example http://*.b.example:8000",
    );
    await patch(videoId, { allowedOrigins: [] });
    expect(await ancestorsOf(videoId)).toBe("'self'");
    await patch(videoId, { allowedOrigins: null });
    expect(await ancestorsOf(videoId)).toBe('*');
  });

  test('of a signed video: the origins of the video if the token is valid; all if it is not, because the page then shows nothing', async () => {
    const restricted = await plane.startAnother({ embedOrigins: ['https://www.example.com'] });
    const videoId = await signedVideo();
    const expired = `?token=${await expiredTokenFor(videoId)}`;
    for (const query of ['', '?token=x', expired]) {
      expect([query, await ancestorsOf(videoId, query, restricted.url)]).toEqual([query, '*']);
    }
    expect(await ancestorsOf(videoId, `?token=${await tokenFor(videoId)}`, restricted.url)).toBe(
      "'self' https://customer.example",
    );
  });
});

describe('a viewer learns', () => {
  test('of a public video: its progress, and that it failed, without the reason', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    expect((await state(videoId)).body).toEqual({
      status: 'preparing',
      title: 'holiday',
      progress: 0,
      audioOnly: false,
    });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'No.' });
    expect((await state(videoId)).body).toEqual({
      status: 'failed',
      title: 'holiday',
      progress: 0,
      audioOnly: false,
    });
  });

  test.each([
    ['without a token', 401, async () => '', 'playback_token_required'],
    [
      'with a token for another video',
      403,
      async () => tokenFor((await plane.ticket()).videoId),
      'playback_token_invalid',
    ],
    ['with a text that is no token', 403, async () => 'x', 'playback_token_invalid'],
  ])('of a signed video that is being prepared, %s: nothing', async (_, status, token, code) => {
    const videoId = await signedVideo();
    const value = await token();
    const query = value === '' ? '' : `?token=${value}`;
    const shown = await page(videoId, query);
    expect([shown.status, stateIn(shown.text)]).toEqual([status, { status: 'refused', code }]);
    expect(JSON.stringify([shown.text, shown.headers])).not.toMatch(/secret|customer|oembed|preparing/);
    const asked = await state(videoId, query);
    expect([asked.status, asked.body.code]).toEqual([status, code]);
    expect(asked.text).not.toContain('secret');
  });

  test('of a signed video with an expired token: that it has expired', async () => {
    const videoId = await signedVideo();
    const query = `?token=${await expiredTokenFor(videoId)}`;
    const { status, text } = await page(videoId, query);
    expect([status, stateIn(text)]).toEqual([403, { status: 'refused', code: 'playback_token_expired' }]);
    expect(text).not.toContain('secret');
    expect((await state(videoId, query)).body.code).toBe('playback_token_expired');
  });

  test('of a signed video with its token: all, with the token in every address', async () => {
    const { videoId } = await plane.readyVideo();
    await patch(videoId, { playbackPolicy: 'signed' });
    const token = await tokenFor(videoId);
    const { body } = await state(videoId, `?token=${token}`);
    const stream = `/v1/hls/${plane.workspaceId}/${videoId}`;
    expect(body).toMatchObject({
      status: 'ready',
      hls: `${stream}/master.m3u8?token=${token}`,
      poster: `${stream}/poster.jpg?token=${token}`,
      storyboard: `${stream}/storyboard.vtt?token=${token}`,
    });
    expect((await page(videoId, `?token=${token}`)).text).not.toContain('oembed');
  });

  test('of a deleted video, and of one in another workspace: that the video does not exist', async () => {
    const { videoId } = await plane.ticket();
    const foreign = await request(plane.url).get(`/v1/embed/${newId('ws')}/${videoId}`);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);
    for (const { status, text } of [foreign, await page(videoId)]) {
      expect([status, stateIn(text)]).toEqual([404, { status: 'refused', code: 'video_not_found' }]);
    }
  });
});

/** A ready video whose poster, by default of 640 × 360 pixels, is stored. */
async function videoWithPoster(width = 640, height = 360): Promise<string> {
  const { videoId } = await plane.readyVideo();
  const key = imageKey({ workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER }, 'poster.jpg');
  await plane.objects.put(key, jpegOf(width, height, 40_000), 'image/jpeg');
  return videoId;
}

describe('oEmbed', () => {
  test('returns a frame with the aspect ratio of the video, as large as allowed', async () => {
    const videoId = await videoWithPoster();
    await patch(videoId, { title: 'Ben & "Jo"' });
    const { body } = await oEmbed({ url: embedUrlOf(videoId) });
    expect(body).toMatchObject({
      type: 'video',
      version: '1.0',
      provider_name: 'Framelane',
      title: 'Ben & "Jo"',
    });
    expect(body.html).toContain(
      `<iframe src="${embedUrlOf(videoId)}" width="${body.width}" height="${body.height}"`,
    );
    expect(body.html).toContain('title="Ben &amp; &quot;Jo&quot;"');
    expect(body.thumbnail_url).toBe(
      `http://framelane.test/v1/hls/${plane.workspaceId}/${videoId}/poster.jpg`,
    );
    const ratio = body.width / body.height;
    for (const limits of [{ maxwidth: '300' }, { maxheight: '100' }, { maxwidth: '300', maxheight: '100' }]) {
      const small = (await oEmbed({ url: `${embedUrlOf(videoId)}?start=5`, ...limits })).body;
      expect(small.width).toBeLessThanOrEqual(Number(limits.maxwidth ?? 10_000));
      expect(small.height).toBeLessThanOrEqual(Number(limits.maxheight ?? 10_000));
      expect(small.width / small.height).toBeCloseTo(ratio, 1);
      expect(String(small.width) === limits.maxwidth || String(small.height) === limits.maxheight).toBe(true);
      expect(small.thumbnail_url).toBeUndefined();
    }
  });

  test('has the size of the video, and that of its poster', async () => {
    const videoId = await videoWithPoster(720, 960);
    const portrait = { width: 1440, height: 1920 };
    await plane.db.updateTable('videos').set(portrait).where('id', '=', videoId).execute();
    const { body } = await oEmbed({ url: embedUrlOf(videoId) });
    expect(body).toMatchObject({ ...portrait, thumbnail_width: 720, thumbnail_height: 960 });
    const low = await oEmbed({ url: embedUrlOf(videoId), maxheight: '959' });
    expect(low.body).not.toHaveProperty('thumbnail_url');
    expect((await oEmbed({ url: embedUrlOf(videoId), maxheight: '960' })).body.thumbnail_height).toBe(960);
  });

  test('has no thumbnail while the storage is unavailable', async () => {
    const videoId = await videoWithPoster();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    jest.spyOn(plane.objects, 'get').mockRejectedValueOnce(refused);
    const { status, body } = await oEmbed({ url: embedUrlOf(videoId) });
    expect([status, body.thumbnail_url]).toEqual([200, undefined]);
    expect((await oEmbed({ url: embedUrlOf(videoId) })).body.thumbnail_width).toBe(640);
  });

  test('returns the default size and no thumbnail for a video that is being prepared', async () => {
    const { videoId } = await plane.ticket();
    const { body } = await oEmbed({ url: embedUrlOf(videoId), format: 'json' });
    expect([body.width, body.height, body.thumbnail_url]).toEqual([640, 360, undefined]);
  });

  test.each([
    ['another site', () => 'https://example.com/v1/embed/ws_a/vid_a'],
    ['another page', () => 'http://framelane.test/v1/docs'],
    ['no URL', () => 'x'],
    ['an unknown video', () => embedUrlOf(newId('vid'))],
    ['NUL', () => `${embedUrlOf('vid')}%00`],
  ])('404 for %s', async (_, url) => {
    const response = await oEmbed({ url: url() });
    expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
  });

  test('404 for a page whose address ends like that of a player page', async () => {
    const { videoId } = await plane.ticket();
    const response = await oEmbed({ url: embedUrlOf(videoId).replace('/embed/', '/other/embed/') });
    expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
  });

  test('401 for a signed video, 501 for XML', async () => {
    const signed = await oEmbed({ url: embedUrlOf(await signedVideo()) });
    expect([signed.status, signed.body.code]).toEqual([401, 'playback_token_required']);
    expect(signed.headers['www-authenticate']).toBe('Bearer');
    expect(signed.text).not.toContain('secret');
    const xml = await oEmbed({ url: embedUrlOf('vid_a'), format: 'xml' });
    expect([xml.status, xml.body.code]).toEqual([501, 'format_not_supported']);
  });
});
