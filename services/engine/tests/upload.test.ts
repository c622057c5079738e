import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import {
  BOUNDARY,
  CLOSING_BOUNDARY,
  filePartHead,
  formWith,
  joined,
  textPart,
} from '@framelane/test-kit/multipart';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeTicket, QUOTA_FIGURES } from './support/fake-control-plane.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';

const FILE = randomBytes(300_000);

let engine: TestEngine;
let ticket: FakeTicket;
beforeAll(async () => {
  engine = await startTestEngine({ env: ONLY_RECEIVES });
});
beforeEach(() => {
  ticket = engine.controlPlane.issue();
});
afterAll(async () => {
  await engine.stop();
});

async function upload(
  body: Buffer | FormData,
  options: { token?: string | null; contentType?: string | null } = {},
): Promise<Response> {
  const { token = ticket.token, contentType = `multipart/form-data; boundary=${BOUNDARY}` } = options;
  return fetch(`${engine.url}/upload`, {
    method: 'POST',
    headers: {
      ...(token !== null && { 'X-Upload-Token': token }),
      ...(Buffer.isBuffer(body) && contentType !== null && { 'Content-Type': contentType }),
    },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
  });
}

async function stored(): Promise<Buffer> {
  const { body } = await engine.objects.get(ticket.sources.at(-1) ?? '');
  return buffer(body);
}

async function expectNothingStored(): Promise<void> {
  for (const source of ticket.sources) expect(await engine.objects.head(source)).toBeNull();
}

function completed() {
  return engine.controlPlane.completions.find(({ videoId }) => videoId === ticket.videoId);
}

describe('a valid upload', () => {
  test('is stored unchanged and registered with its size and hash', async () => {
    const file = randomBytes(3 * 1024 * 1024 + 7);
    const form = new FormData();
    form.append('file', new Blob([file], { type: 'video/mp4' }), 'My clip.mp4');
    const response = await upload(form);
    expect(response.status).toBe(202);
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toEqual({
      videoId: ticket.videoId,
      status: 'processing',
      size: file.byteLength,
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await stored()).equals(file)).toBe(true);
    expect(engine.controlPlane.redemptions.at(-1)).toMatchObject({ clientAddress: '127.0.0.1' });
    expect(completed()).toEqual({
      videoId: ticket.videoId,
      transferId: expect.stringMatching(/^xfr_/),
      bytes: file.byteLength,
      sha256: createHash('sha256').update(file).digest('hex'),
    });
    expect(engine.controlPlane.releases.filter(({ videoId }) => videoId === ticket.videoId)).toEqual([]);
  });

  test('may have the file in any field, among text parts', async () => {
    const form = joined(
      textPart('title', 'ignored'),
      textPart('a[b][c]', 'ignored too'),
      filePartHead('clip.mp4', 'whatever'),
      FILE,
      '\r\n',
      textPart('after', 'the file'),
      CLOSING_BOUNDARY,
    );
    expect((await upload(form)).status).toBe(202);
    expect((await stored()).equals(FILE)).toBe(true);
  });

  test('may contain bytes that look like the end of the form', async () => {
    const file = joined('\r\n--', BOUNDARY.slice(0, -1), '\r\n\n', `--${BOUNDARY}--`, '\r\n\r');
    expect((await upload(formWith(file))).status).toBe(202);
    expect((await stored()).equals(file)).toBe(true);
  });

  test('may have a chunked body of unknown length, byte by byte', async () => {
    const client = await RawClient.connect(engine.port);
    client.sendHead({ token: ticket.token, length: null });
    for (const byte of formWith('tiny')) client.sendChunk(Buffer.of(byte));
    client.send('0\r\n\r\n');
    expect((await client.response()).status).toBe(202);
    expect((await stored()).toString()).toBe('tiny');
    client.disconnect();
  });

  test.each([
    '../../../../etc/passwd',
    '..',
    '/dev/null',
    '-i evil;$(reboot)`id`|.mp4',
    'nul\u0000tab\tbell\u0007.mp4',
    'видео 🎬.mp4',
    'x'.repeat(5_000),
  ])('is stored under the key of its transfer, whatever its file name is (%#)', async (fileName) => {
    // The headers of a part carry control characters only in encoded form.
    const encoded = Buffer.from(fileName).toString('hex').replace(/../g, '%$&');
    const head = filePartHead('@').replace('filename="@"', `filename*=UTF-8''${encoded}`);
    const response = await upload(joined(head, FILE, '\r\n', CLOSING_BOUNDARY));
    expect(response.status).toBe(202);
    expect((await stored()).equals(FILE)).toBe(true);
  });
});

describe('a token', () => {
  test.each([
    ['missing', null, 'upload_token_missing'],
    ['unknown', 'ut_nobody_knows_it', 'upload_token_invalid'],
    ['absurdly long', 'u'.repeat(5_000), 'upload_token_invalid'],
  ])('that is %s is refused', async (_what, token, code) => {
    const response = await upload(formWith(FILE), { token });
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ status: 401, code, instance: '/upload' });
  });

  test('that has expired is refused', async () => {
    ticket.expired = true;
    expect(await (await upload(formWith(FILE))).json()).toMatchObject({ code: 'upload_token_expired' });
  });

  test('of a workspace without room for the file is refused with the figures of the quota, and stays valid', async () => {
    ticket.overQuota = true;
    const response = await upload(formWith(FILE));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: 'quota_exceeded',
      instance: '/upload',
      ...QUOTA_FIGURES,
    });
    ticket.overQuota = false;
    expect((await upload(formWith(FILE))).status).toBe(202);
  });

  test('is valid for one file, and its second use is refused', async () => {
    expect((await upload(formWith(FILE))).status).toBe(202);
    const again = await upload(formWith('another file'));
    expect(again.status).toBe(401);
    expect(await again.json()).toMatchObject({ code: 'upload_token_used' });
    expect((await stored()).equals(FILE)).toBe(true);
  });

  test('used by ten concurrent uploads accepts one file and refuses the others', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => upload(formWith(FILE))));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(202);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.slice(1).every((status) => status === 409 || status === 401)).toBe(true);
    expect((await stored()).equals(FILE)).toBe(true);
  });
});

describe('Expect: 100-continue', () => {
  const headers = { Expect: '100-continue' };

  test('gets 100 Continue only after the token is redeemed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    engine.controlPlane.gate = promise;
    engine.controlPlane.requests.length = 0;
    const form = formWith(FILE);
    const client = await RawClient.connect(engine.port);
    client.sendHead({ token: ticket.token, length: form.byteLength, headers });
    await until(() => engine.controlPlane.requests[0]);
    expect(engine.controlPlane.requests).toEqual([INTERNAL_PATHS.redeemTicket]);
    expect(client.received).toBe('');
    resolve();
    await until(() => client.received);
    expect(client.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send(form);
    expect((await client.response()).status).toBe(202);
    client.disconnect();
  });

  test('gets the problem and no 100 Continue if the token is invalid', async () => {
    const client = await RawClient.connect(engine.port);
    client.sendHead({ token: 'ut_nobody_knows_it', length: 1_000_000, headers });
    expect((await client.response()).status).toBe(401);
    expect(client.received).toMatch(/^HTTP\/1\.1 401 /);
    client.disconnect();
  });
});

describe('a form of a browser', () => {
  test.each([
    ['before', () => joined(EMPTY_INPUT, formWith(FILE))],
    ['after', () => joined(filePartHead(), FILE, '\r\n', EMPTY_INPUT, CLOSING_BOUNDARY)],
  ])('can have an empty file input %s the file', async (_where, form) => {
    expect((await upload(form())).status).toBe(202);
    expect((await stored()).equals(FILE)).toBe(true);
  });

  test('can have 100 texts and as many empty file inputs as other parts fit', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => textPart(`a${index}`, 'x'.repeat(16 * 1024)));
    const inputs = Array.from({ length: 99 }, () => EMPTY_INPUT);
    expect((await upload(joined(...texts, ...inputs, formWith(FILE)))).status).toBe(202);
  });

  test.each(['7bit', '8bit', 'Binary'])('can say that its file is not encoded: %s', async (encoding) => {
    expect((await upload(Buffer.from(encoded(encoding)))).status).toBe(202);
  });
});

/** A form whose file has a Content-Transfer-Encoding. */
function encoded(encoding: string): string {
  return formWith('AAECAw==')
    .toString()
    .replace('\r\n\r\n', `\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`);
}

/** What a browser sends for a file input without a file. */
const EMPTY_INPUT = `${filePartHead('', 'other').replace('video/mp4', 'application/octet-stream')}\r\n`;

describe('a refused form', () => {
  const refused: [string, () => Buffer | string, number, string][] = [
    ['no part at all', () => joined(CLOSING_BOUNDARY), 400, 'file_missing'],
    ['text parts only', () => joined(textPart('file', 'text'), CLOSING_BOUNDARY), 400, 'file_missing'],
    ['a file without a name', () => formWith(FILE, ''), 400, 'malformed_multipart'],
    ['an empty file input of a browser', () => joined(EMPTY_INPUT, CLOSING_BOUNDARY), 400, 'file_missing'],
    ['an empty file', () => formWith(''), 400, 'file_empty'],
    ['no body', () => Buffer.alloc(0), 400, 'malformed_multipart'],
    [
      'two files',
      () => joined(filePartHead(), FILE, '\r\n', filePartHead(), FILE, '\r\n', CLOSING_BOUNDARY),
      400,
      'multiple_files',
    ],
    ...['base64', 'Quoted-Printable', 'x-uuencode'].map(
      (encoding): [string, () => string, number, string] => [
        `a file in ${encoding}`,
        () => encoded(encoding),
        400,
        'malformed_multipart',
      ],
    ),
    [
      '101 texts',
      () => joined(...Array.from({ length: 101 }, () => textPart('a', 'b')), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      '200 empty file inputs',
      () => joined(...Array.from({ length: 200 }, () => EMPTY_INPUT), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      'another boundary',
      () => Buffer.from(formWith(FILE).toString('latin1').replaceAll(BOUNDARY, 'X'), 'latin1'),
      400,
      'malformed_multipart',
    ],
    ['no closing boundary', () => joined(filePartHead(), FILE), 400, 'malformed_multipart'],
    [
      'half a closing boundary',
      () => joined(filePartHead(), FILE, `\r\n--${BOUNDARY}`),
      400,
      'malformed_multipart',
    ],
    [
      'no closing boundary after a complete file',
      () => joined(filePartHead(), FILE, '\r\n', textPart('a', 'b')),
      400,
      'malformed_multipart',
    ],
    [
      'part headers that never end',
      () => joined(`--${BOUNDARY}\r\nX: ${'x'.repeat(100_000)}`),
      400,
      'malformed_multipart',
    ],
    [
      'an invalid part header',
      () => joined(`--${BOUNDARY}\r\n\u0001\u0002\r\n\r\n`),
      400,
      'malformed_multipart',
    ],
    [
      'deep field names',
      () => joined(textPart(`a${'[b]'.repeat(20)}`, 'x'), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      'a huge array index',
      () => joined(textPart('a[4000000000]', 'x'), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      'a long field name',
      () => joined(textPart('a'.repeat(1000), 'x'), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      'a long text',
      () => joined(textPart('a', 'x'.repeat(100_000)), formWith(FILE)),
      400,
      'malformed_multipart',
    ],
    [
      '5,000 parts',
      () =>
        joined(
          formWith(FILE).subarray(0, -CLOSING_BOUNDARY.length),
          ...Array.from({ length: 5_000 }, () => textPart('a', 'b')),
          CLOSING_BOUNDARY,
        ),
      400,
      'malformed_multipart',
    ],
    [
      'a field named __proto__',
      () => joined(textPart('__proto__[x]', 'y'), CLOSING_BOUNDARY),
      400,
      'file_missing',
    ],
  ];

  test.each(refused)('with %s leaves no file and a valid token', async (_what, form, status, code) => {
    const response = await upload(Buffer.from(form()));
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status,
      body: { status, code },
    });
    await expectNothingStored();
    expect(completed()).toBeUndefined();
    expect(engine.controlPlane.releases.at(-1)).toMatchObject({ videoId: ticket.videoId });
    expect((await upload(formWith(FILE))).status).toBe(202);
  });

  test.each([
    ['application/json', 415, 'unsupported_media_type'],
    ['video', 415, 'unsupported_media_type'],
    ['multipart/mixed; boundary=x', 415, 'unsupported_media_type'],
    ['multipart/form-data', 400, 'malformed_multipart'],
    ['multipart/form-data; boundary', 400, 'malformed_multipart'],
  ])('with the Content-Type %s is refused', async (contentType, status, code) => {
    const response = await upload(formWith(FILE), { contentType });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status,
      body: { code },
    });
    expect((await upload(formWith(FILE))).status).toBe(202);
  });

  test('without a Content-Type is refused', async () => {
    const response = await upload(formWith(FILE), { contentType: null });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ code: 'unsupported_media_type' });
  });
});

describe('the problem of a refused form says what to do', () => {
  const broken = joined(filePartHead(), FILE);
  const longText = joined(textPart('a', 'x'.repeat(100_000)), formWith(FILE));
  const longName = joined(textPart('a'.repeat(1000), 'x'), formWith(FILE));

  test.each([
    [
      'no closing boundary',
      broken,
      'The body is not valid multipart/form-data. Check the boundary in the Content-Type and the closing boundary.',
    ],
    ['a long text', longText, 'A text part is too long. If it is the file, give the part a filename.'],
    ['a long field name', longName, /^The form was refused: \w.+\.$/],
  ])('%s', async (_, form, detail) => {
    const response = await upload(form);
    expect(await response.json()).toMatchObject({
      code: 'malformed_multipart',
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
    });
  });

  test('no boundary in the Content-Type', async () => {
    const response = await upload(formWith(FILE), { contentType: 'multipart/form-data' });
    const detail = 'The Content-Type has no boundary. Let the HTTP library set this header.';
    expect(await response.json()).toMatchObject({ code: 'malformed_multipart', detail });
  });
});

test('uploads leave no timers', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  for (let count = 0; count < 5; count += 1) {
    ticket = engine.controlPlane.issue();
    expect((await upload(formWith(FILE))).status).toBe(202);
  }
  await until(() => timers() <= before);
});

describe('browsers', () => {
  test('may upload from any origin, and the preflight needs no token', async () => {
    const response = await fetch(`${engine.url}/upload`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-upload-token,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase().split(',')).toEqual(
      expect.arrayContaining(['x-upload-token', 'content-type']),
    );
  });

  test('may read problems, too', async () => {
    const response = await upload(formWith(FILE), { token: null });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('other requests', () => {
  test('with another method get 405 and the allowed methods', async () => {
    const response = await fetch(`${engine.url}/upload`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, OPTIONS');
  });

  test('to other paths get 404, and their bodies are not read', async () => {
    const client = await RawClient.connect(engine.port);
    client.send('POST /elsewhere HTTP/1.1\r\nHost: engine\r\nContent-Length: 1000000000\r\n\r\nabc');
    const response = await client.response();
    expect(response.status).toBe(404);
    expect(response.headers.get('connection')).toBe('close');
    await client.closedByServer();
  });

  test('/readyz names what is unavailable', async () => {
    // The readiness checks run once a second.
    const response = (status: number) =>
      until(async () => {
        const response = await fetch(`${engine.url}/readyz`);
        return response.status === status ? response : undefined;
      });
    await response(200);
    engine.controlPlane.broken.add(INTERNAL_PATHS.checkTask);
    const { missing } = (await (await response(503)).json()) as { missing: string[] };
    engine.controlPlane.broken.clear();
    expect(missing).toEqual(['controlPlane']);
  });
});
