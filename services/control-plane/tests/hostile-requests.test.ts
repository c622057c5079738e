import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { segmentKey } from '@framelane/object-store/object-keys';
import { slowOnes } from '@framelane/test-kit/cpu-time';
import { requireHealthy } from '@framelane/test-kit/health-polling';
import { HOSTILE_VALUES, LARGEST_HEADER, repeated, TOKENS } from '@framelane/test-kit/hostile-text';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngChunk, pngOf } from '@framelane/test-kit/png';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_POSTER_BYTES } from '../src/posters/poster-image.ts';
import { MAX_WATERMARK_BYTES } from '../src/watermarks/watermark-image.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER, SEGMENT_BYTES } from './support/manifest.ts';

/** The largest JSON body. */
const LARGEST_BODY = 256 * 1024;

const HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'cookie', 'forwarded'],
  ...['idempotency-key', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'origin', 'range'],
  ...['sec-fetch-site', 'user-agent', 'x-forwarded-for', 'x-forwarded-proto', 'x-framelane-csrf'],
  ...['x-framelane-environment', 'x-request-id', 'x-svc-workspace'],
];

const PATHS = [
  ...['/v1/', '/v1/videos/', '/v1/videos?q=', '/v1/videos?cursor=', '/v1/videos?', '/v1/oembed?url=http://'],
  ...['/v1/hls/', '/v1/hls/ws_1/vid_1/master.m3u8?token=', '/v1/embed/', '/v1/embed/files/', '/v1/docs/'],
  ...['/console/', '/console/files/', '/console/sign-in/', '/console/sign-in/callback?'],
];

/** A provider that nobody reaches. */
const OPEN_ID = { issuer: 'http://127.0.0.1:9', clientId: 'any', clientSecret: 'any', name: 'Acme' };

let plane: TestControlPlane;
let videoId: string;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    trustedProxies: ['127.0.0.1'],
    openId: OPEN_ID,
  }));
  ({ videoId } = await plane.readyVideo());
  const segment = { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER };
  await plane.objects.put(
    segmentKey(segment, '360p', 0, 'ts'),
    Buffer.alloc(SEGMENT_BYTES['360p']),
    'video/mp2t',
  );
});
afterAll(() => plane.stop());

type Headers = Record<string, string>;

/** Sends a request and resolves with the status. The client runs in the same thread as the control plane. */
async function send(method: string, path: string, headers: Headers = {}, body?: string | Buffer) {
  const sent = request(`${plane.url}${path}`, {
    method,
    headers: {
      ...plane.credentials,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await response.resume().toArray();
  return response.statusCode;
}

const post = (path: string, body: string) => send('POST', path, {}, body);

test('no header takes 100 ms, whatever it repeats', async () => {
  const playback = `/v1/hls/${plane.workspaceId}/${videoId}`;
  const range = 'bytes=0-5';
  expect(await send('GET', `${playback}/360p/0.ts`, { range })).toBe(206);
  const readers: readonly (readonly [string, readonly string[]])[] = [
    ['/v1/videos', HEADERS],
    [`${playback}/360p/0.ts`, ['if-none-match', 'if-range', 'range']],
    [`${playback}/master.m3u8`, ['accept-encoding', 'access-control-request-headers', 'origin']],
    ['/console/', ['accept-encoding', 'if-modified-since', 'if-none-match']],
    ['/console/sign-in/callback', ['cookie', 'user-agent']],
  ];
  const requests = readers.flatMap(([path, names]) =>
    names.flatMap((name) =>
      HOSTILE_VALUES.map((value) => {
        const sent = () => send('GET', path, { range, [name]: value });
        return [`${path} ${name}: ${value.slice(0, 9)}`, sent] as const;
      }),
    ),
  );
  expect(await slowOnes(requests)).toEqual([]);
});

test('the type of a body does not take 100 ms, whatever it repeats', async () => {
  const requests = TOKENS.map((token) => {
    const headers = { 'content-type': `application/json;${repeated(token, LARGEST_HEADER)}` };
    return [token, () => send('POST', '/v1/videos/upload-ticket', headers, '{}')] as const;
  });
  expect(await slowOnes(requests)).toEqual([]);
});

test('no path or query takes 100 ms, whatever it repeats', async () => {
  const requests = PATHS.flatMap((path) =>
    TOKENS.filter((token) => !/\s/.test(token)).map((token) => {
      const target = `${path}${repeated(token.replace(/[\\"]/, encodeURIComponent), LARGEST_HEADER)}/x`;
      return [target.slice(0, 50), () => send('GET', target)] as const;
    }),
  );
  expect(await slowOnes(requests)).toEqual([]);
});

/** Bodies with many values. */
function bodiesOfMany(): string[] {
  const numbered = Array.from({ length: 20_000 }, (_, n) => n);
  return [
    repeated('[', LARGEST_BODY - 100),
    ...[
      { filename: 'a.mp4', tags: repeated('a,', 100_000).split(',') },
      { filename: 'a.mp4', metadata: Object.fromEntries(numbered.map((n) => [n, ''])) },
      Object.fromEntries(numbered.map((n) => [`f${n}`, ''])),
    ].map((body) => JSON.stringify(body)),
  ];
}

test('no JSON body takes 100 ms, whatever it repeats', async () => {
  const bodies = [
    ...['{"a":', '"', '\\u0000', ' ', ',', '[],', '9', '-', '"a":1,'].map((token) =>
      repeated(token, LARGEST_BODY - 100),
    ),
    ...TOKENS.flatMap((token) => {
      const text = repeated(token, LARGEST_BODY / 2 - 100);
      return [
        { filename: text },
        { filename: 'a.mp4', title: text, metadata: { [text.slice(0, 1000)]: text } },
      ];
    }).map((body) => JSON.stringify(body)),
    ...bodiesOfMany(),
  ];
  const requests = bodies.map(
    (body) => [body.slice(0, 50), () => post('/v1/videos/upload-ticket', body)] as const,
  );
  expect(await slowOnes(requests)).toEqual([]);
});

test('no field takes 100 ms, whatever it repeats', async () => {
  const requests = [...TOKENS, '\u00fc', '%CC%95%CC%80', '\u0315\u0300'].flatMap((token) => {
    const text = repeated(token, LARGEST_BODY / 8);
    // As long as a URL and a header may be.
    const imported = { url: `https://xn--${repeated(token, 2030)}`, headers: { a: repeated(token, 4096) } };
    const bodies = [
      ['/v1/console/session', { code: repeated(token, 1300) }],
      ['/v1/api-keys', { name: text, permissions: [text] }],
      ['/v1/webhooks', { url: `https://${repeated(token, 2030)}` }],
      ['/v1/webhooks', { url: `https://${text}`, events: [text], description: text }],
      ['/v1/videos/import', imported],
      ['/v1/videos/import', { url: `https://${text}`, headers: { [token]: text } }],
    ] as const;
    return bodies.map(
      ([path, body]) => [`${path} ${token}`, () => post(path, JSON.stringify(body))] as const,
    );
  });
  expect(await slowOnes(requests)).toEqual([]);
});

test('/healthz responds while the dearest bodies are handled', async () => {
  const images = [
    jpegOf(4096, 4096, MAX_POSTER_BYTES),
    // Damaged at the end of many short segments.
    Buffer.concat([
      jpegOf(64, 64).subarray(0, 20),
      Buffer.alloc(MAX_POSTER_BYTES - 20, '\xff\xfe\0\x02', 'latin1'),
    ]),
  ];
  const begin = pngOf(64, 32).subarray(0, 33);
  const watermarks = [pngChunk('IDAT', Buffer.alloc(0)), pngChunk('IDAT', Buffer.alloc(500))].map((chunk) =>
    Buffer.concat([begin, Buffer.alloc(MAX_WATERMARK_BYTES - begin.length, chunk)]),
  );
  const cue = (text: string) => `0:00.000 --> 0:13.000\n${text}\n\n`;
  const captions = [
    cue('"\\"\\ &').repeat(50_000),
    cue(`A${'<b>'.repeat(600_000)}`),
    cue('&'.repeat(2_000_000)),
  ].map((cues) => Buffer.from(`WEBVTT\n\n${cues}`));
  const chapters = [cue('A').repeat(10_000), cue(`A${'<b>'.repeat(80_000)}`), cue('&'.repeat(250_000))].map(
    (cues) => Buffer.from(`WEBVTT\n\n${cues}`),
  );
  const bodies = bodiesOfMany();
  await requireHealthy(plane.url, async () => {
    for (const body of bodies) await post('/v1/videos/upload-ticket', body);
    const statuses: unknown[] = [];
    for (const image of images) {
      const path = `/v1/videos/${videoId}/poster`;
      statuses.push(await send('PUT', path, { 'content-type': 'image/jpeg' }, image));
    }
    expect(statuses).toEqual([200, 400]);
    for (const image of watermarks)
      expect(await send('POST', '/v1/watermarks', { 'content-type': 'image/png' }, image)).toBe(400);
    for (const file of captions) {
      const path = `/v1/videos/${videoId}/captions/en`;
      expect(await send('PUT', path, { 'content-type': 'text/vtt' }, file)).toBeLessThan(300);
    }
    for (const file of chapters) {
      const path = `/v1/videos/${videoId}/chapters`;
      expect(await send('PUT', path, { 'content-type': 'text/vtt' }, file)).toBeLessThan(500);
    }
  });
});
