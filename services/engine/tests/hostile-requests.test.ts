import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { slowOnes } from '@framelane/test-kit/cpu-time';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { requireLinearTime } from '@framelane/test-kit/growth';
import { requireHealthy } from '@framelane/test-kit/health-polling';
import { HOSTILE_VALUES, LARGEST_HEADER, repeated, TOKENS } from '@framelane/test-kit/hostile-text';
import {
  BOUNDARY,
  CLOSING_BOUNDARY,
  filePartHead,
  formWith,
  joined,
  textPart,
} from '@framelane/test-kit/multipart';
import { TusClient } from '@framelane/test-kit/tus-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ env: { ...ONLY_RECEIVES, TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => engine.stop());

type Headers = Record<string, string>;

/** Sends a request and resolves with the status. The client runs in the same thread as the engine. */
async function send(method: string, url: string, headers: Headers, body?: Buffer): Promise<number> {
  const sent = request(url, { method, headers });
  // A refused body may be unread when the engine closes the connection.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await response.resume().toArray();
  return response.statusCode ?? 0;
}

const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Uploads a form with a new token. */
const upload = (form: Buffer, headers: Headers = FORM) =>
  send(
    'POST',
    `${engine.url}/upload`,
    { 'x-upload-token': engine.controlPlane.issue().token, ...headers },
    form,
  );

/** Methods and paths, and the headers that they read. */
const READ_HEADERS: readonly (readonly [string, string, readonly string[]])[] = [
  ['POST', '/upload', ['content-type', 'x-forwarded-for', 'x-request-id', 'x-upload-token']],
  [
    'POST',
    '/files',
    ['tus-resumable', 'upload-concat', 'upload-length', 'upload-metadata', 'x-http-method-override'],
  ],
  ['PATCH', '/files/xfr_1', ['content-type', 'upload-checksum', 'upload-offset']],
  ['OPTIONS', '/files', ['access-control-request-headers', 'origin']],
];

test('no header takes 100 ms, whatever it repeats', async () => {
  const { token } = engine.controlPlane.issue();
  const valid = { 'x-upload-token': token, 'tus-resumable': '1.0.0', 'upload-length': '5' };
  const cases = READ_HEADERS.flatMap(([method, path, names]) =>
    names.flatMap((name) =>
      HOSTILE_VALUES.map((value) => {
        const headers = { ...valid, [name]: value };
        return [
          `${method} ${path} ${name}: ${value.slice(0, 9)}`,
          () => send(method, engine.url + path, headers),
        ] as const;
      }),
    ),
  );
  expect(await slowOnes(cases)).toEqual([]);
});

test('no type of a form takes 100 ms, whatever it repeats', async () => {
  const cases = [
    'multipart/form-data;',
    `${FORM['content-type']};`,
    'multipart/form-data; boundary=',
  ].flatMap((begin) =>
    TOKENS.map((token) => {
      const type = `${begin}${repeated(token, LARGEST_HEADER)}`;
      const body = joined(
        `--${repeated(token, LARGEST_HEADER)}\r\n`,
        filePartHead(),
        'file',
        '\r\n',
        CLOSING_BOUNDARY,
      );
      return [type.slice(0, 60), () => upload(body, { 'content-type': type })] as const;
    }),
  );
  expect(await slowOnes(cases)).toEqual([]);
});

test('no path takes 100 ms, whatever it repeats', async () => {
  const cases = ['/', '/files/', '/upload?', '/upload/'].flatMap((path) =>
    TOKENS.filter((token) => !/\s/.test(token)).map((token) => {
      const url = `${engine.url}${path}${repeated(token.replace(/[\\"]/, encodeURIComponent), LARGEST_HEADER)}/x`;
      return [url, () => send('GET', url, {})] as const;
    }),
  );
  expect(await slowOnes(cases)).toEqual([]);
});

/** Beginnings of the headers of a part. */
const PART_HEADERS = [
  'Content-Disposition: ',
  'Content-Disposition: form-data; ',
  'Content-Disposition: form-data; name="',
  'Content-Disposition: form-data; name="file"; filename="',
  'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'',
  'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: video/mp4;',
  'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Transfer-Encoding: ',
  'X-',
];

/** Each is repeated: what the parsers of forms split, skip or decode. */
const PART_TOKENS = [' ', ';', '; a=', '"', '\\', 'a', '=', '%', '%FF', '/', "'", '\r\n', '\r\n ', 'a:b\r\n'];

test('no header of a part takes 100 ms, whatever it repeats', async () => {
  const cases = PART_HEADERS.flatMap((begin) =>
    PART_TOKENS.map((token) => {
      const head = `--${BOUNDARY}\r\n${begin}${repeated(token, LARGEST_HEADER)}\u00ff\r\n\r\n`;
      return [`${begin}${token}`, () => upload(joined(head, 'x', '\r\n', CLOSING_BOUNDARY))] as const;
    }),
  );
  expect(await slowOnes(cases)).toEqual([]);
});

test('files are received in linear time, whatever they repeat', async () => {
  const tokens = ['\r', '\n', '\r\n', '\r\n-', '\r\n--', `\r\n--${BOUNDARY.slice(0, -1)}`, '-', '\0'];
  for (const token of tokens) {
    const inputOf = (size: number) => formWith(token.repeat(size / token.length));
    await requireLinearTime(2 ** 22, inputOf, async (form) => expect(await upload(form)).toBe(202));
  }
});

test('/healthz responds while the dearest forms are received', async () => {
  const parts = (head: (n: number) => string, count: number) =>
    joined(...Array.from({ length: count }, (_, n) => head(n)), formWith('file'));
  const header = repeated('a=', LARGEST_HEADER);
  const forms = [
    // As many parts as a form may have, each with the largest headers.
    parts((n) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${n}"; ${header}\r\n\r\n\r\n`, 100),
    // The longest texts, in deep fields.
    parts((n) => textPart(`f${'[a]'.repeat(4)}[${n}]`, 'a'.repeat(16 * 1024)), 100),
    formWith(Buffer.alloc(2 ** 24, '\r\n--')),
  ];
  await requireHealthy(engine.url, async () => {
    for (const form of forms) await upload(form);
  });
});

test('/healthz responds while the dearest part of a resumable upload is received', async () => {
  const file = Buffer.alloc(2 ** 24, 'a');
  await requireHealthy(engine.url, async () => {
    const client = new TusClient(engine.controlPlane.issue().token);
    const metadata = `a ${repeated('YWFh', 4000)}`;
    const path = await client.create(engine.url, file.byteLength, { 'Upload-Metadata': metadata });
    // Its digest is wrong, so that the part is refused after it was read.
    const checksum = { 'Upload-Checksum': `sha256 ${repeated('YWFh', 10_000)}` };
    const refused = await client.patch(`${engine.url}${path}`, file, 0, file.byteLength, checksum);
    expect(refused?.status).toBe(460);
    expect((await client.patch(`${engine.url}${path}`, file, 0))?.status).toBe(204);
  });
});

/** Text tracks that are dear to read: the most cues, many tags, and many spaces after the times. */
const TEXT_TRACKS = [
  '1\n00:00:00,100 --> 00:00:00,900\n<b>A</b> & <i>\n\n'.repeat(50_000),
  `1\n00:00:00,100 --> 00:00:00,900\n${'<b>'.repeat(30_000)}x\n\n`,
  `1\n00:00:00,100 --> 00:00:00,900\nx\n00:00:00,100 --> 00:00:00,900${' '.repeat(95_000)}x\u2028\n\n`,
];

test('/healthz responds while a file with hostile text tracks is uploaded and transcoded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'framelane-hostile-'));
  const own = await startTestEngine();
  try {
    const inFolder = (name: string) => join(folder, name);
    await makeClip(inFolder('video.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const texts = TEXT_TRACKS.map((_, at) => inFolder(`${at}.srt`));
    for (const [at, path] of texts.entries()) await writeFile(path, TEXT_TRACKS[at] ?? '');
    const inputs = [inFolder('video.mp4'), ...texts];
    await ffmpeg(
      ...inputs.flatMap((path) => ['-i', path]),
      ...inputs.flatMap((_, at) => ['-map', String(at)]),
      ...['-c', 'copy', inFolder('clip.mkv')],
    );
    const form = formWith(await readFile(inFolder('clip.mkv')));
    await requireHealthy(own.internalUrl, async () => {
      const headers = { 'x-upload-token': own.controlPlane.issue().token, ...FORM };
      expect(await send('POST', `${own.url}/upload`, headers, form)).toBe(202);
      const videoId = await own.transcode(inFolder('clip.mkv'));
      await until(() => own.events('task.completed').some(({ data }) => data.videoId === videoId));
    });
  } finally {
    await own.stop();
    await rm(folder, { recursive: true });
  }
});
