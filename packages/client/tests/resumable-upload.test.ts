import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, utimes } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { upload } from '../src/node.ts';
import type { UploadProgress } from '../src/upload.ts';
import { problem, respondJson } from './support/test-server.ts';
import { TusEngine } from './support/tus-engine.ts';

const MIB = 1024 ** 2;
const SIZE = 64 * MIB + 1;

let directory: string;
let path: string;
let sha256: string;
let engine: TusEngine;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-resumable-'));
  path = join(directory, 'näme.mp4');
  const file = await open(path, 'w');
  const hash = createHash('sha256');
  // Every part of the file is different.
  for (let at = 0; at < SIZE; at += MIB) {
    const bytes = randomBytes(Math.min(MIB, SIZE - at));
    hash.update(bytes);
    await file.write(bytes);
  }
  await file.close();
  sha256 = hash.digest('hex');
});
afterAll(() => rm(directory, { recursive: true }));
beforeEach(async () => {
  engine = await TusEngine.start();
});
afterEach(() => engine.stop());

const methods = () => engine.calls.map(({ method }) => method);

function refuse(status: number, code: string) {
  return (req: IncomingMessage, res: ServerResponse) => {
    req.resume();
    respondJson(res, status, problem(status, code), { Connection: 'close' });
  };
}

/** Disconnects after this many bytes. */
function cutAfter(bytes: number) {
  return (req: IncomingMessage) => {
    const end = engine.offset + bytes;
    req.on('data', () => {
      if (engine.offset >= end) req.socket.destroy();
    });
    return true;
  };
}

function expectWhole(): void {
  expect([engine.offset, engine.sha256]).toEqual([SIZE, sha256]);
}

describe('a large file', () => {
  test('is sent as a resumable upload, with its name', async () => {
    const progress: UploadProgress[] = [];
    const receipt = await upload(path, engine.ticket, { onProgress: (at) => progress.push(at) });
    expect(receipt).toEqual({
      videoId: 'vid_1',
      status: 'processing',
      size: SIZE,
      receivedAt: expect.stringMatching(/Z$/),
    });
    expectWhole();
    expect(methods()).toEqual(['POST', 'HEAD', 'PATCH']);
    const [name, value = ''] = (engine.calls[0]?.metadata ?? '').split(/[ ,]/);
    expect([name, Buffer.from(value, 'base64').toString()]).toEqual(['filename', 'näme.mp4']);
    const sent = progress.map((at) => at.sent);
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toEqual({ sent: SIZE, total: SIZE });
  });

  test('is sent as a form if it is a stream, or if the ticket has no `tusUrl` or no `videoId`; so is a small file', async () => {
    const forms: (string | undefined)[] = [];
    const accept = (req: IncomingMessage, res: ServerResponse) => {
      forms.push(req.url);
      req.resume().once('end', () => respondJson(res, 202, {}));
    };
    for (let form = 0; form < 4; form += 1) engine.faults.push({ method: 'POST', handle: accept });
    const { uploadUrl, uploadToken, tusUrl, videoId } = engine.ticket;
    await upload(createReadStream(path), engine.ticket);
    await upload(path, { uploadUrl, uploadToken, videoId });
    await upload(path, { uploadUrl, uploadToken, tusUrl });
    await upload(new Blob([Buffer.alloc(1000)]), engine.ticket);
    expect(forms).toEqual(Array(4).fill('/upload'));
  });

  test.each<[string, string, Parameters<typeof engine.faults.push>[0]['handle']]>([
    ['a lost connection', 'PATCH', (req) => cutAfter(10 * MIB)(req)],
    ['a lost response to the creation', 'POST', (req) => req.socket.destroy()],
    ['a busy upload', 'HEAD', (_req, res) => res.writeHead(423).end()],
    ['an engine that stops', 'PATCH', refuse(503, 'unavailable')],
    ['a conflict', 'PATCH', refuse(409, 'upload_offset_mismatch')],
    ['an engine without a control plane', 'POST', refuse(503, 'unavailable')],
    [
      'an early response',
      'PATCH',
      (_req, res) => res.writeHead(204, { 'Upload-Offset': 0, Connection: 'close' }).end(),
    ],
  ])('arrives in spite of %s', async (_what, method, handle) => {
    engine.faults.push({ method, handle });
    await upload(path, engine.ticket);
    expectWhole();
    expect(engine.uploads).toBe(1);
  });

  test('arrives when the last response is lost', async () => {
    engine.faults.push({
      method: 'PATCH',
      handle: (_req, res) => {
        res.writeHead = () => {
          res.destroy();
          return res;
        };
        return true;
      },
    });
    await upload(path, engine.ticket);
    expectWhole();
    expect(methods()).toEqual(['POST', 'HEAD', 'PATCH', 'HEAD']);
  });

  test('starts over when the engine has lost the data, and reports progress 0', async () => {
    engine.faults.push({ method: 'PATCH', handle: cutAfter(20 * MIB) });
    engine.faults.push({
      method: 'HEAD',
      handle: () => true,
    });
    engine.faults.push({
      method: 'HEAD',
      handle: (_req, res) => {
        engine.forget();
        res.writeHead(410).end();
      },
    });
    const sent: number[] = [];
    await upload(path, engine.ticket, { onProgress: (at) => sent.push(at.sent) });
    expectWhole();
    expect(engine.uploads).toBe(2);
    expect(sent.filter((bytes) => bytes === 0)).toHaveLength(2);
  });

  test('continues with the same ticket after it was aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('the user pauses');
    const onProgress = ({ sent }: UploadProgress) => {
      if (sent > 20 * MIB) controller.abort(reason);
    };
    await expect(upload(path, engine.ticket, { onProgress, signal: controller.signal })).rejects.toBe(reason);
    const sent: number[] = [];
    await upload(path, engine.ticket, { onProgress: (at) => sent.push(at.sent) });
    expectWhole();
    expect(sent[0]).toBeGreaterThan(10 * MIB);
    expect(engine.uploads).toBe(1);
  });

  test('starts over with the same ticket if the file has changed since the first attempt', async () => {
    engine.faults.push({ method: 'PATCH', handle: cutAfter(MIB) });
    await expect(upload(path, engine.ticket, { retries: 0 })).rejects.toMatchObject({
      code: 'connection_failed',
    });
    await utimes(path, new Date(), new Date());
    await upload(path, engine.ticket);
    expectWhole();
    expect(engine.uploads).toBe(2);
  });
});

describe('a resumable upload throws', () => {
  test.each([
    ['the creation', 'POST', 401, 'upload_token_used'],
    ['the creation', 'POST', 403, 'quota_exceeded'],
    ['a part', 'PATCH', 415, 'unsupported_media_type'],
  ])('the error of %s: %s %s %s', async (_what, method, status, code) => {
    engine.faults.push({ method, handle: refuse(status, code) });
    await expect(upload(path, engine.ticket)).rejects.toMatchObject({
      name: 'ApiError',
      code,
      status,
      requestId: 'req_of_the_problem',
    });
  });

  test('the reason why a HEAD was refused', async () => {
    engine.faults.push({ method: 'HEAD', handle: (_req, res) => res.writeHead(401).end() });
    engine.faults.push({ method: 'POST', handle: () => true });
    engine.faults.push({ method: 'POST', handle: refuse(401, 'upload_token_expired') });
    await expect(upload(path, engine.ticket)).rejects.toMatchObject({ code: 'upload_token_expired' });
  });

  test('the last error when its retries are exhausted', async () => {
    for (let attempt = 0; attempt < 2; attempt += 1)
      engine.faults.push({ method: 'PATCH', handle: refuse(503, 'unavailable') });
    await expect(upload(path, engine.ticket, { retries: 1 })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('the reason of an abort before the first byte', async () => {
    const controller = new AbortController();
    const reason = new Error('too soon');
    const options = { onProgress: () => controller.abort(reason), signal: controller.signal };
    await expect(upload(path, engine.ticket, options)).rejects.toBe(reason);
    expect(methods()).toEqual(['POST', 'HEAD']);
  });
});
