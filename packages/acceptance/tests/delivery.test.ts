import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { makeClip } from '../src/clips.ts';
import { fetchBytes, fetchWhole } from '../src/fetch-whole.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readPresentation } from '../src/hls.ts';
import { runProgram } from '../src/run-program.ts';
import { readTarget } from '../src/target.ts';

jest.setTimeout(60_000);

type Kind = 'master playlist' | 'media playlist' | 'segment' | 'key';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
let directory: string;
let urls: Record<Kind, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-delivery-'));
  // Long enough that compressing its playlists pays.
  const audio = { sampleRate: 48_000, channels: 2 };
  const plan = { name: 'clip', width: 160, height: 90, rate: '10', seconds: 40, audio };
  const { hls } = await client.publish(await makeClip(directory, plan));
  const { rungs, keyUrl } = await readPresentation(hls, directory);
  urls = {
    'master playlist': hls,
    'media playlist': rungs[0]?.url ?? '',
    segment: rungs[0]?.segments[0]?.url ?? '',
    key: keyUrl,
  };
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

describe.each([
  ['master playlist', 'application/vnd.apple.mpegurl', 'public, max-age=60', 'gzip'],
  ['media playlist', 'application/vnd.apple.mpegurl', 'public, max-age=60', 'gzip'],
  ['segment', 'video/mp2t', 'public, max-age=31536000, immutable', null],
  ['key', 'application/octet-stream', 'no-store', null],
] as const)('a %s', (kind, mediaType, caching, encoding) => {
  test('says what it is, how long it may be kept, and is compressed only if it is text', async () => {
    const answer = await fetchWhole(urls[kind], { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')?.split(';')[0]).toBe(mediaType);
    expect(answer.headers.get('cache-control')).toBe(caching);
    expect(answer.headers.get('content-encoding')).toBe(encoding);
  });

  test('may be read by any page, a missing one too', async () => {
    const preflight = await fetchWhole(urls[kind], {
      method: 'OPTIONS',
      headers: { Origin: 'https://player.example', 'Access-Control-Request-Method': 'GET' },
    });
    expect(preflight.status).toBe(204);
    const missing = urls[kind].replace(/vid_\w+/, 'vid_01h455vb4pex5vsknk084sn02q');
    const answers = [preflight, await fetchWhole(urls[kind]), await fetchWhole(missing)];
    expect(answers.map(({ status }) => status)).toEqual([204, 200, 404]);
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test('is told of without a body', async () => {
    const head = await fetchWhole(urls[kind], { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')?.split(';')[0]]).toEqual([200, mediaType]);
    expect(head.body.byteLength).toBe(0);
  });
});

test.each(['master playlist', 'media playlist', 'segment'] as const)(
  'a %s that has not changed is not sent again',
  async (kind) => {
    const etag = (await fetchWhole(urls[kind])).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    // Not with fetch, which adds a Cache-Control of its own that asks for the whole.
    const { stdout } = await runProgram('curl', [
      ...['--silent', '--output', join(directory, 'not-sent'), '--header', `If-None-Match: ${etag}`],
      ...['--write-out', '%{http_code} %{size_download}', urls[kind]],
    ]);
    expect(stdout).toBe('304 0');
  },
);

test.each([
  ['from the start', 'bytes=0-99', 0, 100],
  ['from the middle', 'bytes=100-1123', 100, 1124],
  ['the end', 'bytes=-16', -16, undefined],
])('a segment is sent in parts: %s', async (_what, range, from, to) => {
  const whole = await fetchBytes(urls.segment);
  const answer = await fetchWhole(urls.segment, { headers: { Range: range } });
  expect(answer.status).toBe(206);
  const part = whole.subarray(from, to);
  expect(answer.body.equals(part)).toBe(true);
  const start = from < 0 ? whole.length + from : from;
  const expected = `bytes ${start}-${start + part.length - 1}/${whole.length}`;
  expect(answer.headers.get('content-range')).toBe(expected);
});

test('a part beyond the end of a segment is refused', async () => {
  const answer = await fetchWhole(urls.segment, { headers: { Range: 'bytes=999999999-' } });
  expect(answer.status).toBe(416);
});
