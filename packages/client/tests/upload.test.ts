import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createClient } from '../src/index.ts';
import { upload, uploadVideo } from '../src/node.ts';
import { type Handler, problem, respondJson, TestServer } from './support/test-server.ts';

const RECEIPT = { videoId: 'vid_1', status: 'processing', size: 1, receivedAt: '2026-11-21T09:00:00.000Z' };

/** More than the buffers of a connection hold. */
const FILE = randomBytes(20 * 1024 ** 2);

let directory: string;
let path: string;
let server: TestServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-client-'));
  path = join(directory, 'holiday.mp4');
  await writeFile(path, FILE);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.stop();
});
afterAll(() => rm(directory, { recursive: true }));

function ticket() {
  return { uploadUrl: `${server.url}/upload`, uploadToken: 'ut_secret' };
}

/** An engine that accepts every file. Returns the requests it receives. */
async function acceptingEngine() {
  const seen: { headers: IncomingMessage['headers']; body: Buffer }[] = [];
  server = await TestServer.start(async (req, res) => {
    const body = await buffer(req).catch(() => undefined);
    if (body === undefined) return;
    seen.push({ headers: req.headers, body });
    respondJson(res, 202, RECEIPT);
  });
  return seen;
}

/** The only file of a form, parsed by Node. */
async function fileIn({
  headers,
  body,
}: {
  headers: IncomingMessage['headers'];
  body: Buffer;
}): Promise<File> {
  const type = { 'Content-Type': headers['content-type'] ?? '' };
  const parts = [...(await new Response(new Uint8Array(body), { headers: type }).formData())];
  expect(parts.map(([name]) => name)).toEqual(['file']);
  return parts[0]?.[1] as File;
}

async function sha256(file: Blob): Promise<string> {
  return createHash('sha256')
    .update(Buffer.from(await file.arrayBuffer()))
    .digest('hex');
}

describe('a file arrives unchanged', () => {
  const expected = createHash('sha256').update(FILE).digest('hex');
  const bytes = () => new Uint8Array(FILE);
  test.each([
    ['a path', () => path, 'holiday.mp4', true],
    ['a File', () => new File([bytes()], 'näme "1"\r\n.mp4'), 'näme "1"\r\n.mp4', true],
    ['a Blob', () => new Blob([bytes()]), 'file', true],
    ['a Readable', () => createReadStream(path), 'file', false],
    ['the body of a Response', () => new Response(bytes()).body ?? '', 'file', false],
  ])('from %s', async (_what, source, name, sizeIsKnown) => {
    const seen = await acceptingEngine();
    const progress: { sent: number; total: number | null }[] = [];
    const receipt = await upload(source(), ticket(), { onProgress: (at) => progress.push(at) });
    expect(receipt).toEqual(RECEIPT);

    const [request] = seen;
    if (request === undefined) throw new Error('Nothing arrived');
    expect(request.headers['x-upload-token']).toBe('ut_secret');
    expect(request.headers['content-length']).toBe(sizeIsKnown ? String(request.body.length) : undefined);
    const file = await fileIn(request);
    expect([decodeURIComponent(file.name), await sha256(file)]).toEqual([name, expected]);

    const sent = progress.map((at) => at.sent);
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toEqual({ sent: FILE.length, total: sizeIsKnown ? FILE.length : null });
    expect(progress.length).toBeGreaterThan(10);
  });

  test('to an engine that never sends 100 Continue', async () => {
    const waiting = AbortSignal.timeout(20);
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(waiting);
    // Responds only after the whole body.
    const handler: Handler = async (req, res) => {
      await buffer(req);
      respondJson(res, 202, RECEIPT);
    };
    server = await TestServer.start(handler, handler);
    expect(await upload(path, ticket())).toEqual(RECEIPT);
  });
});

test('memory does not grow with the file', async () => {
  const program = join(import.meta.dirname, 'support', 'upload-process.ts');
  server = await TestServer.start((req, res) => {
    req.resume().once('end', () => respondJson(res, 202, RECEIPT));
  });
  const peakOf = async (mebibytes: number) => {
    const file = join(directory, `${mebibytes}.mp4`);
    await writeFile(file, '');
    await truncate(file, mebibytes * 1024 ** 2);
    const { stdout } = await promisify(execFile)(process.execPath, [program, file, ticket().uploadUrl]);
    return Number(stdout);
  };
  // Long enough to fill all buffers. Between runs, uncollected garbage differs by about 10 MiB.
  const small = await peakOf(64);
  expect(small).toBeGreaterThan(0);
  expect(await peakOf(512)).toBeLessThan(small + 64 * 1024 ** 2);
});

/** Responds during a file and keeps reading, as the engine and proxies do: a reset could overtake the response. */
function respondEarly(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close' }).write(body);
}

describe('an error response', () => {
  test('before the file prevents its upload', async () => {
    const arrived: number[] = [];
    server = await TestServer.start(
      () => {},
      (req, res) => {
        req.on('data', (chunk: Buffer) => arrived.push(chunk.length));
        respondJson(res, 401, problem(401, 'upload_token_used'), { Connection: 'close' });
      },
    );
    const onProgress = jest.fn();
    await expect(upload(path, ticket(), { onProgress })).rejects.toMatchObject({
      name: 'ApiError',
      code: 'upload_token_used',
      status: 401,
      requestId: 'req_of_the_problem',
    });
    expect([arrived, onProgress.mock.calls]).toEqual([[], []]);
  });

  test('during the file is thrown and stops the upload', async () => {
    let arrived = 0;
    server = await TestServer.start((req, res) => {
      req.on('data', (chunk: Buffer) => {
        arrived += chunk.length;
        if (!res.headersSent) respondEarly(res, 413, JSON.stringify(problem(413, 'file_too_large')));
      });
    });
    await expect(upload(path, ticket())).rejects.toMatchObject({ code: 'file_too_large', status: 413 });
    expect(arrived).toBeLessThan(FILE.length);
  });

  test.each([413, 202])('from a proxy is recognised: %i', async (status) => {
    server = await TestServer.start((req, res) => {
      req.resume();
      respondEarly(res, status, '<h1>A page</h1>');
    });
    await expect(upload(path, ticket())).rejects.toMatchObject({ code: 'unexpected_response', status });
  });
});

describe('an interrupted upload', () => {
  test.each<[string, Handler]>([
    ['during the file', (req) => req.once('data', () => req.socket.destroy())],
    ['before the response', (req) => req.resume().once('end', () => req.socket.destroy())],
    [
      'during the response',
      (req, res) => {
        req.resume().once('end', () => {
          res.writeHead(202, { 'Content-Length': '100' });
          res.write('{"videoId"', () => req.socket.destroy());
        });
      },
    ],
  ])('%s throws a ConnectionError', async (_when, handler) => {
    server = await TestServer.start(handler);
    await expect(upload(path, ticket())).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'connection_failed',
      message: `${server.url} sent no complete response.`,
      cause: { code: expect.stringMatching(/^(ECONNRESET|EPIPE)$/) },
    });
  });

  test('without a server throws a ConnectionError', async () => {
    server = await TestServer.start(() => {});
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const nowhere = { uploadUrl: `http://127.0.0.1:${port}/upload`, uploadToken: 'ut_secret' };
    await expect(upload(path, nowhere)).rejects.toMatchObject({
      code: 'connection_failed',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  test('by its signal throws the reason and closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    server = await TestServer.start((req) => {
      req.socket.once('close', closed.resolve);
      req.resume();
    });
    const controller = new AbortController();
    const reason = new Error('the user left');
    const sending = upload(path, ticket(), {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(sending).rejects.toBe(reason);
    await closed.promise;
  });

  test('before its start sends nothing', async () => {
    const seen = await acceptingEngine();
    const reason = new Error('too late');
    await expect(upload(path, ticket(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(seen).toEqual([]);
  });
});

describe('a file that cannot be read', () => {
  test('because it is missing throws the error of Node', async () => {
    await acceptingEngine();
    await expect(upload(join(directory, 'nothing.mp4'), ticket())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each([
    ['before 100 Continue', 0],
    ['during the upload', 3],
  ])('to its end throws the error of the stream: %s', async (_when, chunks) => {
    const seen = await acceptingEngine();
    const broken = new Error('the disk failed');
    const source = Readable.from(
      (async function* () {
        for (let index = 0; index < chunks; index += 1) yield Buffer.alloc(1000);
        throw broken;
      })(),
    );
    source.read(0);
    await expect(upload(source, ticket())).rejects.toBe(broken);
    expect(seen).toEqual([]);
  });

  test('because it yields text is not sent', async () => {
    const seen = await acceptingEngine();
    await expect(upload(createReadStream(path, 'latin1'), ticket())).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });

  test('because it became shorter during the upload throws source_changed', async () => {
    const shrinking = join(directory, 'shrinking.mp4');
    await writeFile(shrinking, FILE);
    const { promise: wasComplete, resolve } = Promise.withResolvers<boolean>();
    server = await TestServer.start(
      (req) => req.resume(),
      async (req, res) => {
        await truncate(shrinking, 1000);
        res.writeContinue();
        req.on('error', () => resolve(req.complete)).resume();
      },
    );
    await expect(upload(shrinking, ticket())).rejects.toMatchObject({ code: 'source_changed' });
    expect(await wasComplete).toBe(false);
  });
});

describe('uploadVideo', () => {
  /** Responds for the API and the engine, and stores the request bodies. */
  async function wholeService() {
    const bodies: unknown[] = [];
    server = await TestServer.start(async (req, res) => {
      const body = await buffer(req);
      if (req.url === '/upload') return respondJson(res, 202, { ...RECEIPT, size: body.length });
      bodies.push(JSON.parse(body.toString()));
      return respondJson(res, 201, ticket());
    });
    const client = createClient({ baseUrl: `${server.url}/v1`, apiKey: 'svc_test_1', workspaceId: 'ws_1' });
    return { client, bodies };
  }

  test('sends the name and the size of the file', async () => {
    const { client, bodies } = await wholeService();
    const { size } = await uploadVideo(client, path, { title: 'Holiday' });
    expect(size).toBeGreaterThan(FILE.length);
    expect(bodies).toEqual([{ filename: 'holiday.mp4', size: FILE.length, title: 'Holiday' }]);
  });

  test('sends the given name', async () => {
    const { client, bodies } = await wholeService();
    await uploadVideo(client, createReadStream(path), { filename: 'stream.mp4' });
    expect(bodies).toEqual([{ filename: 'stream.mp4' }]);
  });

  test('throws without a name', async () => {
    const { client, bodies } = await wholeService();
    await expect(uploadVideo(client, createReadStream(path))).rejects.toThrow(TypeError);
    expect(bodies).toEqual([]);
  });
});
