import { newId } from '@framelane/contracts/ids';
import type { Chapter } from '@framelane/contracts/manifest';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { sampleManifest } from './support/manifest.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'put' | 'delete', path: string) =>
  request(plane.url)[method](`/v1${path}`).set(plane.credentials);
const put = (videoId: string, chapters: unknown) =>
  api('put', `/videos/${videoId}/chapters`).send({ chapters });
const putFile = (videoId: string, file: string | Buffer) =>
  api('put', `/videos/${videoId}/chapters`).type('text/vtt').send(file);
const get = async (videoId: string) => (await api('get', `/videos/${videoId}/chapters`)).body;
const hls = (videoId: string, file: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${file}`).buffer();
const record = async (videoId: string) => (await api('get', `/videos/${videoId}`)).body;
const newVideo = async () => (await plane.ticket()).videoId;
/** Its duration is 20 seconds. */
const readyVideo = async () => (await plane.readyVideo()).videoId;

/** A ready video whose file had these chapters. `duringTranscode` runs while it is being transcoded. */
async function videoWithChapters(
  chapters: Chapter[],
  duringTranscode: (videoId: string) => Promise<unknown> = async () => {},
): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await duringTranscode(videoId);
  await plane.engine.complete(videoId, attempt, { ...sampleManifest(), chapters });
  return videoId;
}

const TWO = [
  { start: 0, title: 'Opening' },
  { start: 4.5, title: 'Questions & <b>answers</b>' },
];
const VTT = `WEBVTT

00:00:00.000 --> 00:00:04.500
Opening

00:00:04.500 --> 00:00:20.000
Questions &amp; &lt;b&gt;answers&lt;/b&gt;
`;
const OF_FILE = [
  { start: 40, title: 'Of the file' },
  { start: 6000, title: 'Second' },
];

describe('the API', () => {
  test('sets, gets, replaces and deletes chapters', async () => {
    const [videoId, other] = [await newVideo(), await newVideo()];
    await put(other, [{ start: 1, title: 'Untouched' }]);
    expect(await get(videoId)).toEqual({ chapters: [], origin: null, updatedAt: null });
    const set = await put(videoId, TWO);
    expect([set.status, set.body]).toEqual([
      200,
      { chapters: TWO, origin: 'person', updatedAt: expect.any(String) },
    ]);
    expect(await get(videoId)).toEqual(set.body);
    expect((await record(videoId)).chapterCount).toBe(2);
    await put(videoId, [{ start: 2, title: 'Only' }]);
    expect((await get(videoId)).chapters).toEqual([{ start: 2, title: 'Only' }]);
    expect((await api('delete', `/videos/${videoId}/chapters`)).status).toBe(204);
    expect(await get(videoId)).toEqual({ chapters: [], origin: null, updatedAt: null });
    expect((await record(videoId)).chapterCount).toBe(0);
    const again = await api('delete', `/videos/${videoId}/chapters`);
    expect([again.status, again.body.code]).toEqual([404, 'chapters_not_found']);
    expect((await get(other)).chapters).toEqual([{ start: 1, title: 'Untouched' }]);
  });

  test('returns a WebVTT file that it accepts', async () => {
    const videoId = await readyVideo();
    await put(videoId, TWO);
    const file = await api('get', `/videos/${videoId}/chapters.vtt`);
    expect([file.text, file.get('content-type')]).toEqual([VTT, 'text/vtt; charset=utf-8']);
    const copy = await newVideo();
    expect((await putFile(copy, file.text)).body).toMatchObject({ chapters: TWO, origin: 'person' });
  });

  test('returns a last chapter of a second while the duration is not known', async () => {
    const videoId = await newVideo();
    expect((await api('get', `/videos/${videoId}/chapters.vtt`)).status).toBe(404);
    await put(videoId, TWO.slice(1));
    expect((await api('get', `/videos/${videoId}/chapters.vtt`)).text).toContain(
      '00:00:04.500 --> 00:00:05.500',
    );
  });

  test('sorts chapters, rounds to milliseconds, and trims titles', async () => {
    const videoId = await newVideo();
    const sent = [
      { start: 8.0004, title: ' C ' },
      { start: 0.0006, title: 'A' },
      { start: 4, title: 'B' },
    ];
    expect((await put(videoId, sent)).body.chapters).toEqual([
      { start: 0.001, title: 'A' },
      { start: 4, title: 'B' },
      { start: 8, title: 'C' },
    ]);
  });

  test('takes titles as text, whatever is in them', async () => {
    const videoId = await readyVideo();
    const titles = ['<script>alert(1)</script>', '--> "x" & \\ </', '😀'.repeat(255), 'عربي'];
    const chapters = titles.map((title, start) => ({ start, title }));
    expect((await put(videoId, chapters)).body.chapters).toEqual(chapters);
    expect((await hls(videoId, 'chapters.json')).body).toMatchObject(
      titles.map((title) => ({ titles: [{ language: 'und', title }] })),
    );
    const file = (await hls(videoId, 'chapters.vtt')).text;
    expect(file).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(file.match(/-->/g)).toHaveLength(titles.length);
    expect((await putFile(videoId, file)).body.chapters).toEqual(chapters);
  });

  const at = (start: unknown, title: unknown = 'A') => ({ start, title });
  test.each([
    ['none', [], 'body/chapters', 'minItems'],
    ['a negative start', [at(-1)], 'body/chapters/0/start', 'minimum'],
    ['a start that is a text', [at('NaN')], 'body/chapters/0/start', 'type'],
    ['no start', [{ title: 'A' }], 'body/chapters/0/start', 'required'],
    ['null', [at(null)], 'body/chapters/0/start', 'type'],
    ['a start beyond 100 hours', [at(360_000)], 'body/chapters/0/start', 'maximum'],
    ['an empty title', [at(0, '')], 'body/chapters/0/title', 'minLength'],
    ['a title of spaces', [at(0, '   ')], 'body/chapters/0/title', 'pattern'],
    ['a line break', [at(0, 'A\nB')], 'body/chapters/0/title', 'pattern'],
    ['bidirectional formatting', [at(0, 'A\u202eB')], 'body/chapters/0/title', 'pattern'],
    ['256 characters', [at(0, 'x'.repeat(256))], 'body/chapters/0/title', 'maxLength'],
    ['501 chapters', Array.from({ length: 501 }, (_, n) => at(n)), 'body/chapters', 'maxItems'],
    ['5,000 chapters', Array.from({ length: 5000 }, (_, n) => at(n)), 'body/chapters', 'maxItems'],
    ['two at the same time', [at(3), at(1), at(3)], 'body/chapters/2/start', 'unique'],
    ['two in the same millisecond', [at(3), at(3.0004)], 'body/chapters/1/start', 'unique'],
  ])('refuses %s', async (_, chapters, field, code) => {
    const videoId = await newVideo();
    const { status, body } = await put(videoId, chapters);
    expect({ status, code: body.code, errors: body.errors }).toEqual({
      status: 400,
      code: 'validation_failed',
      errors: [{ field, code, message: expect.any(String) }],
    });
    expect((await get(videoId)).chapters).toEqual([]);
  });

  test.each([
    ['NaN', '{"chapters":[{"start":NaN,"title":"A"}]}', 'invalid_json'],
    ['Infinity', '{"chapters":[{"start":1e999,"title":"A"}]}', 'validation_failed'],
    ['an end', '{"chapters":[{"start":0,"end":1,"title":"A"}]}', 'unknown_field'],
    ['a list without a name', '[{"start":0,"title":"A"}]', 'validation_failed'],
  ])('refuses JSON with %s', async (_, body, code) => {
    const response = await api('put', `/videos/${await newVideo()}/chapters`)
      .type('json')
      .send(body);
    expect([response.status, response.body.code]).toEqual([400, code]);
  });

  test('takes 500 chapters and refuses one at the end of a ready video', async () => {
    const most = Array.from({ length: 500 }, (_, n) => at(n / 100, `Chapter ${n}`));
    const videoId = await readyVideo();
    expect((await put(videoId, most)).body.chapters).toHaveLength(500);
    const { duration } = await record(videoId);
    for (const start of [duration, duration + 100]) {
      const { body } = await put(videoId, [at(0), at(start)]);
      expect(body.errors).toEqual([
        {
          field: 'body/chapters/1/start',
          code: 'out_of_range',
          message: `must be before the end of the video, at ${duration} seconds`,
        },
      ]);
    }
    expect((await put(videoId, [at(duration - 0.001)])).status).toBe(200);
  });

  test.each([
    ['an unreadable time', 'WEBVTT\n\n00:00 -> 00:01\nA\n', 3, 'a cue was expected'],
    ['an end before the start', 'WEBVTT\n\n00:11.000 --> 00:00.000\nA\n', 3, 'ends before it begins'],
    ['no header', '00:00.000 --> 00:01.000\nA\n', 1, 'begins with WEBVTT'],
    ['nothing', '', null, 'it is empty'],
    [
      'two at the same time',
      `WEBVTT\n\n${'00:01.000 --> 00:02.000\nA\n\n'.repeat(2)}`,
      null,
      'two chapters begin at 00:00:01.000',
    ],
    [
      'a long title',
      `WEBVTT\n\n00:00.000 --> 00:01.000\n${'x'.repeat(256)}\n`,
      null,
      'has more than 255 characters',
    ],
    [
      '5,000 chapters',
      `WEBVTT\n\n${Array.from({ length: 5000 }, (_, n) => `00:${(n / 300).toFixed(3).padStart(6, '0')} --> 00:20.000\nA\n\n`).join('')}`,
      null,
      'it has 5000 chapters, and a video can have 500',
    ],
    [
      'a chapter after the end',
      'WEBVTT\n\n00:20.000 --> 00:21.000\nA\n',
      3,
      'the video ends at 00:00:20.000',
    ],
  ])('refuses a WebVTT file with %s', async (_, file, line, words) => {
    const { status, body } = await putFile(await readyVideo(), file);
    expect([status, body.code, body.line]).toEqual([400, 'invalid_chapters', line]);
    expect(body.detail).toContain(words);
  });

  test('takes the text of a WebVTT file without markup, on one line', async () => {
    const file =
      'WEBVTT\n\nSTYLE\n::cue { color: red }\n\none\n00:05.000 --> 00:06.000 align:left\n<v Ada>Two</v>\nlines\n\n' +
      '00:01.000 --> 00:02.000\n<script>One</script> &amp;amp; &lt;i&gt; \u202e&#39;x&#39;\n';
    expect((await putFile(await newVideo(), file)).body.chapters).toEqual([
      { start: 1, title: "One &amp; <i> 'x'" },
      { start: 5, title: 'Two lines' },
    ]);
  });

  test('knows only videos of the workspace that exist', async () => {
    const { videoId } = await plane.readyVideo();
    await put(videoId, TWO);
    await api('delete', `/videos/${videoId}`);
    for (const id of [videoId, newId('vid')]) {
      const responses = [
        await put(id, TWO),
        await putFile(id, VTT),
        await api('get', `/videos/${id}/chapters`),
        await api('get', `/videos/${id}/chapters.vtt`),
        await api('delete', `/videos/${id}/chapters`),
      ];
      for (const { body } of responses) expect(body.code).toBe('video_not_found');
      expect((await hls(id, 'chapters.json')).status).toBe(404);
    }
    const rows = await plane.db.selectFrom('chapters').select('video_id').where('video_id', '=', videoId);
    expect(await rows.execute()).toEqual([]);
  });

  test('reads a large file beside the event loop', async () => {
    const videoId = await newVideo();
    const file = Buffer.from(`WEBVTT\n\n00:00.000 --> 00:01.000\n${'<b>'.repeat(80_000)}`);
    let status: number | undefined;
    const block = await longestBlock(async () => {
      ({ status } = await putFile(videoId, file));
    });
    expect(status).toBe(400);
    expect(block).toBeLessThan(100);
  });
});

describe('chapters of the file', () => {
  test('are those of the video when it is ready', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    expect(await get(videoId)).toMatchObject({
      chapters: [
        { start: 0.04, title: 'Of the file' },
        { start: 6, title: 'Second' },
      ],
      origin: 'file',
    });
    expect((await record(videoId)).chapterCount).toBe(2);
  });

  test('do not replace those that a client has set', async () => {
    const videoId = await videoWithChapters(OF_FILE, (id) => put(id, TWO));
    expect(await get(videoId)).toMatchObject({ chapters: TWO, origin: 'person' });
  });

  test('can be replaced and deleted', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    expect((await put(videoId, TWO)).body.origin).toBe('person');
    await api('delete', `/videos/${videoId}/chapters`);
    expect((await record(videoId)).chapterCount).toBe(0);
  });
});

describe('players', () => {
  const TAG = '#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"';
  const master = async (videoId: string) => (await hls(videoId, 'master.m3u8')).text;

  test('get the chapters of a ready video with its master playlist, also after a change', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    expect((await master(videoId)).split('\n').filter((line) => line.startsWith('#EXT-X-SESSION'))).toEqual([
      TAG,
    ]);
    const json = await hls(videoId, 'chapters.json');
    expect(json.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json.get('cache-control')).toBe('public, no-cache');
    expect(json.body).toEqual([
      {
        chapter: 1,
        'start-time': 0.04,
        duration: 5.96,
        titles: [{ language: 'und', title: 'Of the file' }],
      },
      { chapter: 2, 'start-time': 6, duration: 14, titles: [{ language: 'und', title: 'Second' }] },
    ]);
    await put(videoId, TWO);
    expect((await hls(videoId, 'chapters.vtt')).text).toBe(VTT);
    await api('delete', `/videos/${videoId}/chapters`);
    expect(await master(videoId)).not.toContain('SESSION-DATA');
    for (const file of ['chapters.json', 'chapters.vtt']) {
      expect((await hls(videoId, file)).body.code ?? JSON.parse((await hls(videoId, file)).text).code).toBe(
        'video_not_found',
      );
    }
    await put(videoId, TWO);
    expect(await master(videoId)).toContain(TAG);
  });

  test('get none that begin at or after the end of the video', async () => {
    const late = { start: 20, title: 'Too late' };
    const some = await videoWithChapters([], (id) => put(id, [...TWO, late]));
    expect((await hls(some, 'chapters.vtt')).text).toBe(VTT);
    expect((await get(some)).chapters).toEqual([...TWO, late]);
    const none = await videoWithChapters([], (id) => put(id, [late]));
    expect(await master(none)).not.toContain('SESSION-DATA');
    expect((await hls(none, 'chapters.json')).status).toBe(404);
  });

  test('of a signed video need its token', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    await request(plane.url)
      .patch(`/v1/videos/${videoId}`)
      .set(plane.credentials)
      .send({ playbackPolicy: 'signed' });
    const { body } = await request(plane.url)
      .post(`/v1/videos/${videoId}/playback-tokens`)
      .set(plane.credentials)
      .send({});
    for (const file of ['chapters.json', 'chapters.vtt']) {
      expect((await hls(videoId, file)).status).toBe(401);
      const allowed = await hls(videoId, `${file}?token=${body.token}`);
      expect([allowed.status, allowed.get('cache-control')]).toEqual([200, 'private, no-store']);
    }
    expect((await hls(videoId, `master.m3u8?token=${body.token}`)).text).toContain(
      `URI="chapters.json?token=${body.token}"`,
    );
  });

  test('revalidate', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    const etag = (await hls(videoId, 'chapters.json')).get('etag') ?? '';
    expect((await hls(videoId, 'chapters.json').set('if-none-match', etag)).status).toBe(304);
    await put(videoId, TWO);
    expect((await hls(videoId, 'chapters.json').set('if-none-match', etag)).status).toBe(200);
  });

  test('of the page get the address of the JSON file', async () => {
    const videoId = await videoWithChapters(OF_FILE);
    const state = async () =>
      (await request(plane.url).get(`/v1/embed/${plane.workspaceId}/${videoId}/state`)).body;
    expect((await state()).chapters).toBe(`/v1/hls/${plane.workspaceId}/${videoId}/chapters.json`);
    await api('delete', `/videos/${videoId}/chapters`);
    expect((await state()).chapters).toBeNull();
  });
});
