import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

/** Node accepts 16 KiB of headers; the rest of a request has some. */
const LARGEST_HEADER = 15_000;

/** The largest JSON body. */
const LARGEST_BODY = 256 * 1024;

/** Each is repeated: what parsers of headers, paths and queries split, skip or decode. */
const TOKENS = [
  ...[
    ' ',
    '\t',
    ';',
    '; ',
    ';a',
    '; a=',
    ',',
    ', ',
    '=',
    '"',
    '\\',
    'a',
    'a=',
    'a="',
    'q=0.5,',
    '*',
    '(',
    '-',
  ],
  ...[
    '0',
    '0-,',
    'bytes=0-,',
    'W/"a",',
    '"a",',
    ':',
    '::',
    '%',
    '%25',
    '/',
    '.',
    './',
    '..',
    '/.',
    'Bearer ',
    '&',
    '[a]',
  ],
];

const HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'cookie', 'forwarded'],
  ...['idempotency-key', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'origin', 'range'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-request-id', 'x-svc-workspace'],
];

const PATHS = [
  ...['/v1/', '/v1/videos/', '/v1/videos?q=', '/v1/videos?cursor=', '/v1/videos?', '/v1/oembed?url=http://'],
  ...[
    '/v1/hls/',
    '/v1/embed/',
    '/v1/embed/files/',
    '/v1/docs/',
    '/console/',
    '/console/files/',
    '/console/sign-in/',
  ],
];

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, trustedProxies: ['127.0.0.1'] }));
});
afterAll(() => plane.stop());

/** The CPU time of this thread for a request and its response, in milliseconds. The client runs in it, too. */
async function cpuOf(path: string, headers: Record<string, string> = {}, body?: string): Promise<number> {
  const begun = process.threadCpuUsage();
  const sent = request(`${plane.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...plane.credentials,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await response.resume().toArray();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

/** Requests that take 100 ms of CPU time or more, each time of three times. */
async function slowOnes(requests: Iterable<readonly [string, () => Promise<number>]>): Promise<string[]> {
  const slow: string[] = [];
  for (const [name, send] of requests) {
    if ((await send()) >= 100 && (await send()) >= 100 && (await send()) >= 100) slow.push(name);
  }
  return slow;
}

const repeated = (token: string, size: number) => token.repeat(Math.floor(size / token.length));

test('no header takes 100 ms, whatever it repeats', async () => {
  const requests = HEADERS.flatMap((name) =>
    TOKENS.map((token) => {
      // The last character makes an expression fail at the end.
      const headers = { [name]: `${token}${repeated(token, LARGEST_HEADER)}\u00ff` };
      return [`${name}: ${token}`, () => cpuOf('/v1/videos', headers)] as const;
    }),
  );
  expect(await slowOnes(requests)).toEqual([]);
});

test('the type of a body does not take 100 ms, whatever it repeats', async () => {
  const requests = TOKENS.map((token) => {
    const headers = { 'content-type': `application/json;${repeated(token, LARGEST_HEADER)}` };
    return [token, () => cpuOf('/v1/videos/upload-ticket', headers, '{}')] as const;
  });
  expect(await slowOnes(requests)).toEqual([]);
});

test('no path or query takes 100 ms, whatever it repeats', async () => {
  const requests = PATHS.flatMap((path) =>
    TOKENS.filter((token) => !/\s/.test(token)).map((token) => {
      const target = `${path}${repeated(token.replace(/[\\"]/, encodeURIComponent), LARGEST_HEADER)}/x`;
      return [target.slice(0, 50), () => cpuOf(target)] as const;
    }),
  );
  expect(await slowOnes(requests)).toEqual([]);
});

test('no JSON body takes 100 ms, whatever it repeats', async () => {
  const bodies = [
    ...['[', '{"a":', '"', '\\u0000', ' ', ',', '[],', '9', '-', '"a":1,'].map((token) =>
      repeated(token, LARGEST_BODY - 100),
    ),
    ...TOKENS.flatMap((token) => {
      const text = repeated(token, LARGEST_BODY / 2 - 100);
      return [
        { filename: text },
        { filename: 'a.mp4', title: text, metadata: { [text.slice(0, 1000)]: text } },
      ];
    }).map((body) => JSON.stringify(body)),
    JSON.stringify({ filename: 'a.mp4', tags: repeated('a,', 100_000).split(',') }),
    JSON.stringify({
      filename: 'a.mp4',
      metadata: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, ''])),
    }),
    JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n}`, '']))),
  ];
  const requests = bodies.map(
    (body) => [body.slice(0, 50), () => cpuOf('/v1/videos/upload-ticket', {}, body)] as const,
  );
  expect(await slowOnes(requests)).toEqual([]);
});
