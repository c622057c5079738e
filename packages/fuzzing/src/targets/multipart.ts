import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { readMultipart } from '@framelane/engine/uploads/multipart';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import { expectSame, expectThat } from '../promises.ts';
import type { Target } from '../target.ts';

const BOUNDARY = 'b';
const MAX_FILE_BYTES = 300;
/** Rounds of the event loop in which the body must have been read. */
const MAX_ROUNDS = 2_000;

/** A body, and before it a byte that says how it is cut into chunks. */
export const target: Target = {
  maxBytes: 1_500,
  steps: { fixed: 20_000, perByte: 200 },
  libraries: ['multer', 'busboy', 'streamsearch'],
  dictionary: [
    '--b',
    '--b--',
    '\r\n',
    '\r\n\r\n',
    '\r\n--b\r\n',
    '\r\n--b--\r\n',
    'Content-Disposition: form-data; ',
    'name="file"',
    '; filename="a.mp4"',
    "filename*=UTF-8''%e2%82",
    'Content-Type: video/mp4',
    'Content-Type: text/plain; charset=utf-16le',
    'Content-Transfer-Encoding: base64',
    '__proto__',
    '[0]',
    '"',
    '\\',
    '\0',
  ],
  seeds: [
    // An epilogue, and a part without headers: reported for other versions of busboy.
    '\x03--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nA\r\n--b--\r\nepilogue',
    '\x09--b\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nA\r\n--b--\r\n',
    `\x01--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nA\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\nbytes\r\n--b--\r\n`,
    '\x05--b\r\nContent-Disposition: form-data; name="file"; filename=".."\r\n\r\n\r\n--b--',
  ],
  run: async (input) => {
    const [size = 0, ...rest] = input;
    const body = Buffer.from(rest);
    const whole = await outcomeOf(body, body.length);
    expectThat(
      whole.stored.length <= Math.min(body.length, MAX_FILE_BYTES),
      'no more bytes are stored than were sent, or are allowed',
    );
    const cut = await outcomeOf(body, Math.max(1, size));
    expectSame(cut, whole, 'the chunks of the body do not matter');
  },
};

type Outcome = { code: string; stored: string };

/** What comes of a form: the code of a problem, or the bytes of its files. */
async function outcomeOf(body: Buffer, chunkBytes: number): Promise<Outcome> {
  const files: Buffer[] = [];
  const storage = {
    _handleFile: (_req: unknown, { stream }: { stream: Readable }, done: (error?: unknown) => void) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', done);
      stream.once('end', () => {
        files.push(Buffer.concat(chunks));
        done();
      });
    },
    _removeFile: (_req: unknown, _file: unknown, done: (error: null) => void) => done(null),
  };
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': String(body.length),
  };
  const req = Object.assign(Readable.from(chunksOf(body, chunkBytes)), {
    headers,
    get: (name: string) => headers[name as 'content-type'],
  });
  const reading = readMultipart(req as unknown as Request, {} as Response, {
    storage: storage as never,
    maxBytes: MAX_FILE_BYTES,
    signal: new AbortController().signal,
  });
  const code = await settled(reading);
  req.destroy();
  return { code, stored: code === 'read' ? Buffer.concat(files).toString('latin1') : '' };
}

async function settled(reading: Promise<void>): Promise<string> {
  let code: string | undefined;
  reading.then(
    () => {
      code = 'read';
    },
    (error: unknown) => {
      code =
        error instanceof Problem && error.code !== 'internal_error' ? error.code : `unforeseen: ${error}`;
    },
  );
  for (let round = 0; code === undefined && round < MAX_ROUNDS; round += 1) await setImmediate();
  expectThat(code !== undefined, 'a body that has ended has been read');
  expectThat(!code.startsWith('unforeseen'), `each refusal is a problem, not ${code}`);
  return code;
}

function chunksOf(body: Buffer, bytes: number): Buffer[] {
  const count = Math.ceil(body.length / Math.max(1, bytes));
  return Array.from({ length: count }, (_, at) => body.subarray(at * bytes, (at + 1) * bytes));
}
