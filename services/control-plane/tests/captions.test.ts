import { MAX_CUES } from '@framelane/captions/captions';
import { newId } from '@framelane/contracts/ids';
import type { CaptionsTrack } from '@framelane/contracts/manifest';
import { Problem } from '@framelane/service-kit/problem';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { readFile } from '../src/captions/captions-threads.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { insertWorkspace } from './support/database.ts';
import { sampleManifest } from './support/manifest.ts';

const VTT = `WEBVTT

STYLE
::cue { background: url(https://evil.example/) }

00:01.000 --> 00:02.500 line:0
<script>Hello</script> & bye

00:05.500 --> 00:13.000
Across segments
`;
const NORMALIZED = `WEBVTT

00:00:01.000 --> 00:00:02.500 line:0
Hello &amp; bye

00:00:05.500 --> 00:00:13.000
Across segments
`;
const SRT = '1\r\n00:00:01,000 --> 00:00:02,000\r\nHallo\r\n';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'put' | 'patch' | 'delete', path: string) =>
  request(plane.url)[method](`/v1${path}`).set(plane.credentials);
const put = (videoId: string, language: string, body = VTT, type = 'text/vtt') =>
  api('put', `/videos/${videoId}/captions/${language}`).type(type).send(body);
const hls = (videoId: string, file: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${file}`).buffer();
const record = async (videoId: string) => (await api('get', `/videos/${videoId}`)).body;
const newVideo = async () => (await plane.ticket()).videoId;

/** Copies the only captions of a video to this many other languages. */
async function addLanguages(videoId: string, count: number): Promise<void> {
  await sql`with added as (
    insert into captions select video_id, 'q' || chr(97 + n / 26) || chr(97 + n % 26), label, false, origin, 1,
      cue_count, cue_starts, cue_ends, cues from captions, generate_series(0, ${count - 1}::int) n
      where video_id = ${videoId}
      returning video_id, language
    ) insert into artifacts (video_id, kind, name, bytes)
    select video_id, 'captions', language, 1 from added`.execute(plane.db);
}

/** A ready video whose file had these text tracks. `duringTranscode` runs while it is being transcoded. */
async function videoWithTracks(
  captions: CaptionsTrack[],
  duringTranscode: (videoId: string) => Promise<unknown> = async () => {},
): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await duringTranscode(videoId);
  const manifest = { ...sampleManifest(), captions, startTimestamp: 900_000 };
  await plane.engine.complete(videoId, attempt, manifest);
  return videoId;
}

const track = (language: string | null, label: string | null, text = 'A'): CaptionsTrack => ({
  language,
  label,
  webvtt: `WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${text}\n`,
});

describe('the API', () => {
  test('sets, lists, gets, replaces and deletes captions', async () => {
    const [videoId, other] = [await newVideo(), await newVideo()];
    await put(other, 'en-US?default=true');
    const { captions: untouched } = await record(other);
    const created = await put(videoId, 'EN-us?label=English&default=true');
    expect([created.status, created.body]).toEqual([
      201,
      {
        language: 'en-US',
        label: 'English',
        default: true,
        origin: 'person',
        cues: 2,
        bytes: Buffer.byteLength(NORMALIZED),
        updatedAt: expect.any(String),
      },
    ]);
    const file = await api('get', `/videos/${videoId}/captions/en-US`);
    expect([file.headers['content-type'], file.text]).toEqual(['text/vtt; charset=utf-8', NORMALIZED]);

    const german = await put(videoId, 'de?default=true', SRT, 'application/x-subrip');
    expect(german.body).toMatchObject({ label: 'Deutsch', default: true, cues: 1 });
    const listed = (await api('get', `/videos/${videoId}/captions`)).body;
    expect(listed.data).toMatchObject([
      { language: 'de', default: true },
      { language: 'en-US', default: false },
    ]);
    // The English captions changed too: they are not the default any more.
    expect(listed.data[1].updatedAt > created.body.updatedAt).toBe(true);
    expect((await record(videoId)).captions).toEqual(listed.data);

    const replaced = await put(
      videoId,
      'de',
      SRT.replace('Hallo', 'Tag'),
      'application/x-subrip; charset=utf-8',
    );
    expect([replaced.status, replaced.body]).toMatchObject([200, { label: 'Deutsch', default: false }]);
    expect((await api('get', `/videos/${videoId}/captions/DE`)).text).toContain('Tag');

    expect((await api('delete', `/videos/${videoId}/captions/en-us`)).status).toBe(204);
    const repeated = await api('delete', `/videos/${videoId}/captions/en-us`);
    expect([repeated.status, repeated.body.code]).toEqual([404, 'captions_not_found']);
    expect((await record(videoId)).captions).toMatchObject([{ language: 'de' }]);
    expect((await record(other)).captions).toEqual(untouched);
  });

  test('refuses an invalid file and reports the line', async () => {
    const videoId = await newVideo();
    await put(videoId, 'en');
    const { status, body } = await put(videoId, 'en', 'WEBVTT\n\nid\n00:01 --> 00:02\nA');
    expect([status, body]).toMatchObject([400, { code: 'invalid_captions', line: 4 }]);
    expect(body.detail).toMatch(/^Line 4: the times cannot be read/);
    expect((await put(videoId, 'de', '')).body).toMatchObject({
      code: 'invalid_captions',
      line: null,
      detail: expect.stringContaining('it is empty'),
    });
    expect((await record(videoId)).captions).toMatchObject([{ cues: 2 }]);
  });

  test('accepts nearly 2 MiB and refuses slightly more', async () => {
    const videoId = await newVideo();
    const cue = `00:01.000 --> 00:02.000\n${'x'.repeat(1000)}\n\n`;
    const sized = (bytes: number) => `WEBVTT\n\n${cue.repeat(bytes / cue.length)}`;
    const refused = await put(videoId, 'en', sized(2_100_000));
    expect([refused.status, refused.body.code]).toEqual([413, 'body_too_large']);
    expect((await put(videoId, 'en', sized(2_090_000))).status).toBe(201);
  });

  test('refuses a cue that begins after the end of the video, once its duration is known', async () => {
    const { videoId } = await plane.readyVideo();
    const { duration } = await record(videoId);
    const late = `WEBVTT\n\n00:01.000 --> 00:02.000\nA\n\n10:00:00.000 --> 10:00:01.000\nB\n`;
    expect(duration).toBeLessThan(36_000);
    const { status, body } = await put(videoId, 'en', late);
    expect([status, body]).toMatchObject([400, { code: 'invalid_captions', line: 6 }]);
    expect(body.detail).toMatch(/^Line 6: the cue begins at 10:00:00\.000, but the video ends at 00:/);
    expect((await put(await newVideo(), 'en', late)).status).toBe(201);
  });

  test('changes the label and the default without a new upload of the file', async () => {
    const videoId = await videoWithTracks([{ language: 'de', label: 'Deutsch', webvtt: VTT }]);
    await put(videoId, 'en?default=true');
    const before = await record(videoId);
    const path = `/videos/${videoId}/captions/DE`;
    await api('patch', path).send({ default: false });
    expect((await record(videoId)).captions).toMatchObject([{ default: false }, { default: true }]);
    const { status, body } = await api('patch', path).send({ label: 'Für alle', default: true });
    expect([status, body]).toMatchObject([
      200,
      { language: 'de', label: 'Für alle', default: true, origin: 'file', cues: 2 },
    ]);
    const after = await record(videoId);
    expect(after.captions).toMatchObject([{ default: true }, { default: false }]);
    expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await hls(videoId, 'master.m3u8')).text).toMatch(/NAME="Für alle",.*DEFAULT=YES/);
    expect((await api('patch', path).send({ default: false })).body).toMatchObject({ default: false });
    expect((await api('get', path)).text).toBe(NORMALIZED);
    const missing = await api('patch', `/videos/${videoId}/captions/fr`).send({ default: true });
    expect([missing.status, missing.body.code]).toEqual([404, 'captions_not_found']);
    expect((await api('patch', path).send({ label: '' })).body.errors).toMatchObject([
      { field: 'body/label' },
    ]);
    expect((await api('patch', path).send({ default: 'maybe' })).body.errors).toMatchObject([
      { field: 'body/default' },
    ]);
  });

  test.each(['english', 'en_US', 'e', '%F0%9F%98%80'])('refuses the language %s', async (language) => {
    const { status, body } = await put(await newVideo(), language);
    expect([status, body.errors]).toMatchObject([400, [{ field: 'path/language', code: 'format' }]]);
  });

  test.each([
    ['label=', 'query/label'],
    ['label=a%0Ab', 'query/label'],
    ['default=maybe', 'query/default'],
  ])('refuses ?%s', async (query, field) => {
    const { status, body } = await put(await newVideo(), `en?${query}`);
    expect([status, body.errors]).toMatchObject([400, [{ field }]]);
  });

  test('refuses other types of files, and names those that it accepts', async () => {
    const { status, body } = await put(await newVideo(), 'en', '{}', 'application/json');
    expect([status, body.detail]).toEqual([415, 'Send the body as text/vtt or application/x-subrip.']);
  });

  test('responds with 404 for captions of a deleted video or of another workspace', async () => {
    const videoId = await newVideo();
    await put(videoId, 'en');
    await api('delete', `/videos/${videoId}`);
    for (const response of [
      await put(videoId, 'en'),
      await api('get', `/videos/${videoId}/captions`),
      await api('get', `/videos/${videoId}/captions/en`),
      await api('delete', `/videos/${videoId}/captions/en`),
    ]) {
      expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
    }
    const rows = await plane.db.selectFrom('captions').where('video_id', '=', videoId).selectAll().execute();
    expect(rows).toEqual([]);

    const workspace = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: workspace, name: 'Other' }).execute();
    const foreign = await newVideo();
    await plane.db.updateTable('videos').set({ workspace_id: workspace }).where('id', '=', foreign).execute();
    expect((await put(foreign, 'en')).status).toBe(404);
  });

  test('needs videos:read to read and videos:write to change', async () => {
    const videoId = await newVideo();
    await put(videoId, 'en');
    const secret = newApiKeySecret('live');
    await createFullKey(plane.db, { workspaceId: plane.workspaceId, name: 'Reader', secret });
    await plane.db
      .updateTable('api_keys')
      .set({ permissions: ['videos:read'] })
      .where('name', '=', 'Reader')
      .execute();
    const reader = { ...plane.credentials, authorization: `Bearer ${secret}` };
    const path = `/v1/videos/${videoId}/captions`;
    expect((await request(plane.url).get(path).set(reader)).status).toBe(200);
    expect((await request(plane.url).get(`${path}/en`).set(reader)).status).toBe(200);
    expect((await request(plane.url).delete(`${path}/en`).set(reader)).status).toBe(403);
    expect((await request(plane.url).put(`${path}/en`).set(reader).type('text/vtt').send(VTT)).status).toBe(
      403,
    );
  });

  test('limits the number of languages to 50', async () => {
    const videoId = await newVideo();
    await put(videoId, 'en');
    await addLanguages(videoId, 48);
    expect((await put(videoId, 'fr')).status).toBe(201);
    const { status, body } = await put(videoId, 'de');
    expect([status, body.code]).toEqual([409, 'captions_limit_reached']);
    expect((await put(videoId, 'en')).status).toBe(200);
  });

  test('counts captions as stored bytes, within the quota', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const bytes = Buffer.byteLength(NORMALIZED);
    await put(videoId, 'en');
    await put(videoId, 'en');
    expect((await put(videoId, 'fr')).body.language).toBe('fr');
    expect((await record(videoId)).storageBytes).toBe(2 * bytes);
    await plane.engine.upload(uploadToken);
    expect((await record(videoId)).storageBytes).toBe(1_000_000 + 2 * bytes);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    const { storageBytes } = await record(videoId);
    await api('delete', `/videos/${videoId}/captions/en`);
    expect((await record(videoId)).storageBytes).toBe(storageBytes - bytes);

    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: plane.workspaceId, stored_bytes: 1 } as never)
      .execute();
    const refused = await put(videoId, 'de');
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'quota_exceeded', quota: 'storedBytes', requested: bytes },
    ]);
    expect((await put(videoId, 'fr')).status).toBe(200);
    await plane.db.deleteFrom('quotas').execute();
  });
});

describe('text tracks of the file', () => {
  test('become captions with their language and title, beside those set before', async () => {
    const label = `Commentary ${'x'.repeat(89)}`;
    const tracks = [
      track('en', ` ${label}\u0007beyond 100 characters`, 'of the file'),
      track('eng', null),
      track('en', null),
      track('not a language', null),
      track('de', 'From the file'),
    ];
    const videoId = await videoWithTracks(tracks, (id) => put(id, 'de', SRT, 'application/x-subrip'));
    const { captions, storageBytes } = await record(videoId);
    expect(captions).toMatchObject([
      { language: 'de', label: 'Deutsch', origin: 'person' },
      { language: 'en', label, origin: 'file', default: false },
      { language: 'en-x-2', origin: 'file' },
      { language: 'en-x-3', origin: 'file' },
      { language: 'und', label: 'und', origin: 'file' },
    ]);
    const master = await hls(videoId, 'master.m3u8');
    expect(master.text.match(/TYPE=SUBTITLES.*?LANGUAGE="[^"]*"/g)).toEqual([
      'TYPE=SUBTITLES,GROUP-ID="captions",NAME="Deutsch",LANGUAGE="de"',
      `TYPE=SUBTITLES,GROUP-ID="captions",NAME="${label}",LANGUAGE="en"`,
      expect.stringMatching(/,LANGUAGE="en"$/),
      expect.stringMatching(/,LANGUAGE="en"$/),
      expect.stringMatching(/,LANGUAGE="und"$/),
    ]);
    const all = captions.reduce((sum: number, { bytes }: { bytes: number }) => sum + bytes, 0);
    const { storageBytes: withoutCaptions } = await record((await plane.readyVideo()).videoId);
    expect(storageBytes).toBe(withoutCaptions + all);
  });

  test('are left out beyond the limit of languages', async () => {
    const videoId = await videoWithTracks([track('de', null), track('fr', null)], async (id) => {
      await put(id, 'en');
      await addLanguages(id, 48);
    });
    const { captions } = await record(videoId);
    expect(captions).toHaveLength(50);
    expect(captions[0]).toMatchObject({ language: 'de', origin: 'file' });
  });

  test('do not fail the video if they cannot be read', async () => {
    const videoId = await videoWithTracks([{ language: 'en', label: null, webvtt: 'unreadable' }]);
    expect(await record(videoId)).toMatchObject({ status: 'ready', captions: [] });
  });

  test('captions survive a failure and a retry', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await put(videoId, 'en');
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.alloc(10), 'video/mp4');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed', message: 'No.' });
    await request(plane.url).post(`/v1/videos/${videoId}/retry`).set(plane.credentials).expect(202);
    const { attempt: second } = await plane.engine.claim(videoId);
    const manifest = { ...sampleManifest(), captions: [track('en', null), track('fr', null)] };
    await plane.engine.complete(videoId, second, manifest);
    expect((await record(videoId)).captions).toMatchObject([
      { language: 'en', origin: 'person', cues: 2 },
      { language: 'fr', origin: 'file' },
    ]);
  });
});

describe('playback', () => {
  test('the master playlist lists captions, and each change of them is visible at once', async () => {
    const { videoId } = await plane.readyVideo();
    const before = await hls(videoId, 'master.m3u8');
    expect(before.headers['cache-control']).toBe('public, no-cache');
    expect(before.text).not.toContain('SUBTITLES');
    await put(videoId, 'en?label=%22E%22&default=true');
    await put(videoId, 'fr?label=%22E%22');
    const after = await hls(videoId, 'master.m3u8');
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(after.text.split('\n').filter((line) => line.includes('TYPE=SUBTITLES'))).toEqual([
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="'E'",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,URI="captions/en/1/index.m3u8"`,
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="'E' (fr)",LANGUAGE="fr",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="captions/fr/2/index.m3u8"`,
    ]);
    expect(after.text.match(/#EXT-X-STREAM-INF:.*SUBTITLES="captions"/g)).toHaveLength(2);
    await api('delete', `/videos/${videoId}/captions/en`);
    await api('delete', `/videos/${videoId}/captions/fr`);
    expect((await hls(videoId, 'master.m3u8')).text).toBe(before.text);
  });

  test('segments have the boundaries of the video, and cues that cross one are in both', async () => {
    const videoId = await videoWithTracks([]);
    await put(videoId, 'en');
    const playlist = await hls(videoId, 'captions/en/1/index.m3u8');
    expect(playlist.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/vnd\.apple\.mpegurl/),
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': '*',
    });
    const video = await hls(videoId, '360p/index.m3u8');
    const withoutKey = video.text.replace(/#EXT-X-KEY.*\n/, '').replaceAll('.ts', '.vtt');
    expect(playlist.text).toBe(withoutKey);
    const segments = await Promise.all([0, 1, 2, 3].map((n) => hls(videoId, `captions/en/1/${n}.vtt`)));
    const header = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n';
    const crossing = '\n00:00:05.500 --> 00:00:13.000\nAcross segments\n';
    expect(segments.map(({ text }) => text)).toEqual([
      `${header}\n00:00:01.000 --> 00:00:02.500 line:0\nHello &amp; bye\n${crossing}\n`,
      `${header}${crossing}\n`,
      `${header}${crossing}\n`,
      `${header}\n`,
    ]);
    expect(segments[0]?.headers).toMatchObject({
      'content-type': 'text/vtt; charset=utf-8',
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': '*',
    });
    expect((await hls(videoId, 'captions/en/1/4.vtt')).status).toBe(404);
    expect((await hls(videoId, 'captions/de/1/0.vtt')).status).toBe(404);
    expect((await hls(videoId, 'captions/en_US/1/0.vtt')).status).toBe(404);
    expect((await hls(videoId, 'captions/EN/1/index.m3u8')).text).toBe(playlist.text);
    expect((await hls(videoId, 'captions/eng/1/0.vtt')).text).toBe(segments[0]?.text);
  });

  test('the URL of an old revision returns the current captions, and caches revalidate them', async () => {
    const { videoId } = await plane.readyVideo();
    await put(videoId, 'en');
    await put(videoId, 'en', VTT.replace('bye', 'welcome'));
    for (const [revision, caching] of [
      [1, 'public, no-cache'],
      [2, 'public, max-age=60'],
    ]) {
      const { text, headers } = await hls(videoId, `captions/en/${revision}/0.vtt`);
      expect([text, headers['cache-control']]).toEqual([expect.stringContaining('welcome'), caching]);
    }
  });

  test('captions of a signed video need the token, which every URL passes on', async () => {
    const { videoId } = await plane.readyVideo();
    await put(videoId, 'en');
    await request(plane.url)
      .patch(`/v1/videos/${videoId}`)
      .set(plane.credentials)
      .send({ playbackPolicy: 'signed' });
    const { body } = await request(plane.url)
      .post(`/v1/videos/${videoId}/playback-tokens`)
      .set(plane.credentials)
      .send({});
    const query = `?token=${body.token}`;
    const master = await hls(videoId, `master.m3u8${query}`);
    expect(master.text).toContain(`URI="captions/en/1/index.m3u8${query}"`);
    const playlist = await hls(videoId, `captions/en/1/index.m3u8${query}`);
    expect(playlist.text).toContain(`\n0.vtt${query}\n`);
    const segment = await hls(videoId, `captions/en/1/0.vtt${query}`);
    expect([segment.status, segment.headers['cache-control']]).toEqual([200, 'private, no-store']);
    for (const file of ['index.m3u8', '0.vtt']) {
      expect((await hls(videoId, `captions/en/1/${file}`)).status).toBe(401);
      expect((await hls(videoId, `captions/en/1/${file}?token=a.b.c`)).status).toBe(403);
    }
  });

  test('captions of a video that is not ready cannot be played', async () => {
    const videoId = await newVideo();
    await put(videoId, 'en');
    expect((await hls(videoId, 'captions/en/1/index.m3u8')).status).toBe(404);
  });
});

describe('the event loop', () => {
  const cue = (text: string) => `0:00.000 --> 0:13.000\n${text}\n\n`;

  /** Downloads without decoding, because the client runs in the same process. */
  const download = async (path: string) => {
    const response = await fetch(`${plane.url}/v1${path}`, { headers: plane.credentials });
    return (await response.arrayBuffer()).byteLength;
  };

  test.each([
    ['the most cues, in every segment', cue('"\\"\\ &').repeat(MAX_CUES)],
    ['one cue with many tags', cue(`A${'<b>'.repeat(600_000)}`)],
    ['one cue whose text becomes five times as long', cue('&'.repeat(2_000_000))],
  ])('is not blocked for 100 ms by a file with %s', async (_, cues) => {
    const file = `WEBVTT\n\n${cues}`;
    const block = await longestBlock(async () => {
      const videoId = await videoWithTracks([{ language: 'de', label: null, webvtt: file }]);
      expect((await put(videoId, 'en', file)).status).toBe(201);
      expect((await record(videoId)).captions).toHaveLength(2);
      const bytes = await download(`/videos/${videoId}/captions/en`);
      expect(await download(`/hls/${plane.workspaceId}/${videoId}/captions/en/1/0.vtt`)).toBeGreaterThan(
        bytes,
      );
    });
    expect(block).toBeLessThan(100);
  });

  test('is not blocked by a file that is refused', async () => {
    const videoId = await newVideo();
    const files = [
      `WEBVTT${'\n'.repeat(2_000_000)}`,
      `WEBVTT\n\n0:00.000 --> 0:13.000x${' \u2028'.repeat(500_000)}`,
      'WEBVTT\n\n1\n\n'.repeat(150_000),
    ];
    const block = await longestBlock(async () => {
      for (const file of files) expect((await put(videoId, 'en', file)).status).toBe(400);
    });
    expect(block).toBeLessThan(100);
  });

  test('other workspaces are served while one sends more files than may wait', async () => {
    const workspaceId = await insertWorkspace(plane.db);
    const secret = newApiKeySecret('live');
    await createFullKey(plane.db, { workspaceId, name: 'Other', secret });
    const credentials = { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
    const ticket = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set(credentials)
      .send({ filename: 'a.mp4' });
    const path = `/v1/videos/${ticket.body.videoId}/captions/en`;

    // The calls follow one another without a pause, so that one file is being read and 64 wait, however fast the machine is.
    const file = Buffer.from(`WEBVTT\n\n${cue(`A${'<b>'.repeat(60_000)}`)}`);
    let ended = 0;
    const flood = Array.from({ length: 80 }, async () => {
      try {
        await readFile(plane.workspaceId, { file, format: 'webvtt', duration: null });
        ended += 1;
        return 'read';
      } catch (error) {
        return error instanceof Problem ? error.code : error;
      }
    });
    const { status } = await request(plane.url).put(path).set(credentials).type('text/vtt').send(VTT);
    expect(status).toBe(201);
    expect(ended).toBeLessThan(40);
    const results = await Promise.all(flood);
    // The file of the other workspace took the place of the newest.
    expect(results.slice(0, 64)).toEqual(Array(64).fill('read'));
    expect(results.slice(64)).toEqual(Array(16).fill('rate_limited'));
  });
});
