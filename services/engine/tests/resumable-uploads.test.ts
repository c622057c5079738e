import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Engine } from '../src/engine.ts';
import { type FakeTicket, QUOTA_FIGURES } from './support/fake-control-plane.ts';
import {
  ONLY_RECEIVES,
  quietLogger,
  startTestEngine,
  type TestEngine,
  testConfig,
  withFaults,
} from './support/test-engine.ts';

const FILE = randomBytes(300_000);
const UPLOADS = 'framelane_engine_uploads_total';
const ACTIVE = 'framelane_engine_uploads_active';
const SHA256 = createHash('sha256').update(FILE).digest('hex');

/** Methods of the bus that one test replaces. */
const busFaults: Partial<MessageBus> = {};

let engine: TestEngine;
let ticket: FakeTicket;
beforeAll(async () => {
  engine = await startTestEngine({
    env: ONLY_RECEIVES,
    // Long enough for the time between two requests on a slow machine.
    limits: { registerSeconds: 0, pauseSeconds: 2 },
    wrapBus: (bus) => withFaults(bus, busFaults),
  });
});
beforeEach(() => {
  ticket = engine.controlPlane.issue();
});
afterEach(() => {
  delete busFaults.publish;
  engine.controlPlane.broken.clear();
});
afterAll(() => engine.stop());

type Headers = Record<string, string>;

async function send(method: string, path: string, headers: Headers = {}, body?: Buffer, url = engine.url) {
  return fetch(`${url}${path}`, {
    method,
    headers: { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': ticket.token, ...headers },
    ...(body && { body: new Uint8Array(body) }),
  });
}

async function create(length = FILE.byteLength, headers: Headers = {}): Promise<string> {
  const response = await send('POST', '/files', { 'Upload-Length': String(length), ...headers });
  expect(response.status).toBe(201);
  return new URL(response.headers.get('location') ?? '').pathname;
}

/** The id of the transfer, from the path of its upload. */
const idOf = (path: string) => path.slice('/files/'.length);

const part = (offset: number): Headers => ({
  'Content-Type': 'application/offset+octet-stream',
  'Upload-Offset': String(offset),
});

const patch = (path: string, start: number, end: number, headers: Headers = {}, url = engine.url) =>
  send('PATCH', path, { ...part(start), ...headers }, FILE.subarray(start, end), url);

async function offsetOf(path: string, url = engine.url): Promise<number> {
  const response = await send('HEAD', path, {}, undefined, url);
  expect(response.status).toBe(200);
  return Number(response.headers.get('upload-offset'));
}

/** A PATCH whose body ends only when `end` or `destroy` is called. */
function openPatch(path: string, start: number, length: number, headers: Headers = {}) {
  const request = httpRequest(`${engine.url}${path}`, {
    method: 'PATCH',
    headers: {
      'Tus-Resumable': '1.0.0',
      'X-Upload-Token': ticket.token,
      'Content-Length': length,
      ...part(start),
      ...headers,
    },
  });
  request.on('error', () => {});
  return request;
}

/** The status of the response; undefined if the connection closes without one. */
function statusOf(request: ClientRequest): Promise<number | undefined> {
  return new Promise((resolve) => {
    request
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('close', () => resolve(undefined));
  });
}

async function stored(): Promise<Buffer> {
  return buffer((await engine.objects.get(ticket.sources.at(-1) ?? '')).body);
}

const completion = () => engine.controlPlane.completions.find(({ videoId }) => videoId === ticket.videoId);

async function expectComplete(): Promise<void> {
  expect((await stored()).equals(FILE)).toBe(true);
  expect(completion()).toMatchObject({ bytes: FILE.byteLength });
}

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

/** Bytes that this engine has received so far. */
async function receivedBytes(): Promise<number> {
  const metrics = await (await fetch(`${engine.internalUrl}/metrics`)).text();
  return Number(/^framelane_engine_upload_bytes_total (\d+)/m.exec(metrics)?.[1]);
}

/** Another engine with the same object store and control plane. */
async function startSecond(): Promise<{ engine: Engine; url: string; stop: () => Promise<void> }> {
  const bus = new InProcessBus({ logger: quietLogger() });
  await bus.consume('control-plane.events', { prefetch: 10 }, async () => {});
  const workDir = await mkdtemp(join(tmpdir(), 'framelane-second-'));
  const config = testConfig(engine.controlPlane.url, workDir, ONLY_RECEIVES);
  const second = Engine.create(config, { bus, objects: engine.objects, logger: quietLogger() });
  const { port } = await second.start();
  const stop = async () => {
    await second.stop();
    await bus.close();
    await rm(workDir, { recursive: true });
  };
  return { engine: second, url: `http://127.0.0.1:${port}`, stop };
}

describe('a resumable upload', () => {
  test('arrives in parts, with the hash of the file', async () => {
    const path = await create(FILE.byteLength, { 'Upload-Metadata': 'filename YS5tcDQ=' });
    expect((await patch(path, 0, 100_000)).headers.get('upload-offset')).toBe('100000');
    const state = await send('HEAD', path);
    expect(Object.fromEntries(state.headers)).toMatchObject({
      'upload-offset': '100000',
      'upload-length': '300000',
      'upload-metadata': 'filename YS5tcDQ=',
      'upload-expires': expect.stringMatching(/ GMT$/),
      'cache-control': 'no-store',
      'tus-resumable': '1.0.0',
    });
    expect((await patch(path, 100_000, 100_000)).status).toBe(204);
    const last = await patch(path, 100_000, FILE.byteLength);
    expect([last.status, last.headers.get('upload-offset')]).toEqual([204, '300000']);
    expect(last.headers.has('upload-expires')).toBe(false);
    await expectComplete();
    expect(completion()).toMatchObject({ sha256: SHA256, epoch: 1 });
    const complete = await send('HEAD', path);
    expect(Object.fromEntries(complete.headers)).toMatchObject({
      'upload-offset': '300000',
      'upload-length': '300000',
      'upload-metadata': 'filename YS5tcDQ=',
    });
    expect(complete.headers.has('upload-expires')).toBe(false);
  });

  test('is sent in one request with creation-with-upload', async () => {
    const headers = { 'Upload-Length': String(FILE.byteLength), ...part(0) };
    const response = await send('POST', '/files', headers, FILE);
    expect([response.status, response.headers.get('upload-offset')]).toEqual([201, '300000']);
    expect(response.headers.has('upload-expires')).toBe(false);
    await expectComplete();
  });

  test('keeps what arrived before the connection broke', async () => {
    const path = await create();
    const request = openPatch(path, 0, FILE.byteLength);
    request.write(FILE.subarray(0, 120_000));
    await until(() => engine.controlPlane.resumables.get(idOf(path))?.checkpoint?.durableBytes === 0);
    await until(async () => (await engine.storedFiles()).some((name) => name.includes('.unfinished')));
    request.destroy();
    await until(async () => (await offsetOf(path)) === 120_000);
    await patch(path, 120_000, FILE.byteLength);
    await expectComplete();
  });

  test('is asked for the body once the upload is open, if the client waits for that', async () => {
    const path = await create();
    const request = openPatch(path, 0, FILE.byteLength, { Expect: '100-continue' });
    const status = statusOf(request);
    await once(request, 'continue');
    expect(ticket.transferId).toBe(idOf(path));
    request.end(FILE);
    expect(await status).toBe(204);
    await expectComplete();
  });

  test('continues while an earlier request hangs: a HEAD request ends that request', async () => {
    const path = await create();
    const hanging = openPatch(path, 0, FILE.byteLength);
    hanging.write(FILE.subarray(0, 50_000));
    let offset = 0;
    await until(async () => {
      offset = await offsetOf(path);
      return offset > 0;
    });
    expect(offset).toBe(50_000);
    await patch(path, offset, FILE.byteLength);
    await expectComplete();
  });

  test('continues at another engine after the engine that received the first part has stopped', async () => {
    const second = await startSecond();
    const path = await create();
    await patch(path, 0, 100_000, {}, second.url);
    expect(ticket.transferId).not.toBeNull();
    await second.stop();
    expect(ticket.transferId).toBeNull();
    expect(await offsetOf(path)).toBe(100_000);
    await patch(path, 100_000, FILE.byteLength);
    await expectComplete();
    expect(completion()).toMatchObject({ sha256: null, epoch: 2 });
  });

  test('continues at another engine while the first one still has it open; the first one then changes nothing', async () => {
    const second = await startSecond();
    const path = await create();
    const hanging = openPatch(path, 0, FILE.byteLength);
    const status = statusOf(hanging);
    hanging.write(FILE.subarray(0, 50_000));
    await until(() => engine.controlPlane.resumables.get(idOf(path))?.checkpoint?.durableBytes === 0);
    const offset = await offsetOf(path, second.url);
    expect((await patch(path, offset, 200_000, {}, second.url)).status).toBe(204);
    hanging.end(FILE.subarray(50_000));
    expect(await status).toBe(409);
    expect(engine.controlPlane.resumables.get(idOf(path))?.checkpoint?.durableBytes).toBe(200_000);
    expect((await patch(path, 200_000, FILE.byteLength, {}, second.url)).status).toBe(204);
    await second.stop();
    await expectComplete();
    expect(completion()).toMatchObject({ epoch: 2 });
  });

  test('ends while it receives a body when its video is deleted', async () => {
    ticket = engine.controlPlane.issue({ leaseSeconds: 1 });
    const path = await create();
    const sending = openPatch(path, 0, FILE.byteLength);
    sending.write(FILE.subarray(0, 1000));
    await until(() => engine.controlPlane.resumables.get(idOf(path))?.checkpoint);
    ticket.deleted = true;
    const isDisconnected = () => {
      // The engine would disconnect a client that sends too little.
      sending.write(FILE.subarray(0, 1000));
      return sending.destroyed;
    };
    await until(isDisconnected, { seconds: 20 });
  });

  test('releases its ticket between requests, and not during one', async () => {
    ticket = engine.controlPlane.issue({ leaseSeconds: 1 });
    const path = await create();
    await patch(path, 0, 1000);
    await until(() => ticket.transferId === null);
    // The next request ends this one.
    const hanging = openPatch(path, 1000, FILE.byteLength - 1000);
    const received = await receivedBytes();
    hanging.write(FILE.subarray(1000, 2000));
    await until(async () => (await receivedBytes()) === received + 1000);
    const next = openPatch(path, 2000, FILE.byteLength - 2000);
    const responded = once(next, 'response');
    next.write(FILE.subarray(2000, 3000));
    await until(async () => (await receivedBytes()) === received + 2000);
    const renewals = () =>
      engine.events('upload.progress').filter(({ data }) => data.videoId === ticket.videoId);
    const before = renewals().length;
    await until(() => renewals().length > before + 3);
    // Only progress extends the ticket.
    const extensions = renewals().map(({ data }) => data.extendsTicket);
    expect(extensions).toContain(true);
    expect(extensions.at(-1)).toBeUndefined();
    next.end(FILE.subarray(3000));
    expect((await responded)[0].statusCode).toBe(204);
    await expectComplete();
  });

  test('is completed by the event when the control plane cannot be reached after the last part', async () => {
    const path = await create();
    engine.controlPlane.broken.add(INTERNAL_PATHS.completeTransfer);
    expect((await patch(path, 0, FILE.byteLength)).status).toBe(503);
    await expectComplete();
  });

  test('is completed by HEAD when neither the control plane nor the bus can be reached after the last part', async () => {
    const path = await create();
    engine.controlPlane.broken.add(INTERNAL_PATHS.completeTransfer);
    busFaults.publish = () => Promise.reject(new Error('The broker is unreachable'));
    expect((await patch(path, 0, FILE.byteLength)).status).toBe(503);
    expect(completion()).toBeUndefined();
    delete busFaults.publish;
    engine.controlPlane.broken.clear();
    expect(await offsetOf(path)).toBe(FILE.byteLength);
    await expectComplete();
    expect(completion()).toMatchObject({ epoch: 2 });
    expect((await patch(path, FILE.byteLength, FILE.byteLength)).status).toBe(204);
    expect((await send('DELETE', path)).status).toBe(403);
  });

  test('can be terminated, and created again', async () => {
    const path = await create();
    await patch(path, 0, 100_000);
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('HEAD', path)).status).toBe(410);
    expect((await send('DELETE', path)).status).toBe(410);
    expect(await engine.storedFiles()).not.toContainEqual(expect.stringContaining(idOf(path)));
    await patch(await create(), 0, FILE.byteLength);
    await expectComplete();
  });
});

describe('a part with a checksum', () => {
  const checksum = (algorithm: string, data: Buffer): Headers => ({
    'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(data).digest('base64')}`,
  });

  test.each(['sha1', 'sha256', 'md5'])('is stored if it matches: %s', async (algorithm) => {
    const path = await create();
    const response = await patch(path, 0, FILE.byteLength, checksum(algorithm, FILE));
    expect(response.status).toBe(204);
    await expectComplete();
  });

  test('is discarded if it does not match', async () => {
    const path = await create();
    await patch(path, 0, 10);
    const wrong = await patch(path, 10, 200_000, checksum('sha1', FILE));
    expect([wrong.status, await codeOf(wrong)]).toEqual([460, 'checksum_mismatch']);
    expect(await offsetOf(path)).toBe(10);
    await patch(path, 10, FILE.byteLength);
    await expectComplete();
  });

  test.each([
    ['breaks', (request: ClientRequest) => request.destroy()],
    ['has broken unnoticed', () => {}],
  ])('is discarded if the connection %s', async (_, breakConnection) => {
    const path = await create();
    const request = httpRequest(`${engine.url}${path}`, {
      method: 'PATCH',
      headers: {
        'Tus-Resumable': '1.0.0',
        'X-Upload-Token': ticket.token,
        'Content-Length': FILE.byteLength,
        ...part(0),
        ...checksum('sha1', FILE),
      },
    });
    request.on('error', () => {});
    request.write(FILE.subarray(0, 120_000));
    await until(
      () => engine.controlPlane.resumables.get(idOf(path))?.checkpoint?.laterBytesUntrusted === true,
    );
    breakConnection(request);
    expect(await offsetOf(path)).toBe(0);
    request.destroy();
  });
});

describe('a request is refused', () => {
  test.each([
    ['another version', 'POST', { 'Tus-Resumable': '0.2.2' }, 412, 'tus_version_unsupported'],
    ['no token', 'POST', { 'X-Upload-Token': '', 'Upload-Length': '5' }, 401, 'upload_token_missing'],
    [
      'an unknown token',
      'POST',
      { 'X-Upload-Token': 'x', 'Upload-Length': '5' },
      401,
      'upload_token_invalid',
    ],
    ['no length', 'POST', {}, 400, 'validation_failed'],
    ['a deferred length', 'POST', { 'Upload-Defer-Length': '1' }, 400, 'validation_failed'],
    [
      'a concatenation',
      'POST',
      { 'Upload-Length': '5', 'Upload-Concat': 'partial' },
      400,
      'validation_failed',
    ],
    ['an empty file', 'POST', { 'Upload-Length': '0' }, 400, 'file_empty'],
    ['a file that is too large', 'POST', { 'Upload-Length': '99999999999' }, 413, 'file_too_large'],
    ['another method', 'GET', {}, 405, 'method_not_allowed'],
  ])('with %s', async (_name, method, headers: Headers, status, code) => {
    const response = await send(method, '/files', headers);
    expect([response.status, await codeOf(response)]).toEqual([status, code]);
    expect(response.headers.get('tus-resumable')).toBe('1.0.0');
  });

  test.each([
    ['less', '1000', 409],
    ['more', '100001', 409],
    ['a negative number', '-1', 400],
    ['an exponent', '1e3', 400],
    ['none', '', 400],
  ])('with an offset that is %s', async (_name, offset, status) => {
    const path = await create();
    await patch(path, 0, 100_000);
    const headers = { ...part(0), 'Upload-Offset': offset };
    expect((await send('PATCH', path, headers, FILE.subarray(0, 10))).status).toBe(status);
    expect(await offsetOf(path)).toBe(100_000);
  });

  test('with a body that is longer than the file, a body of another type, or an unknown checksum algorithm', async () => {
    const path = await create(100);
    expect((await patch(path, 0, 101)).status).toBe(413);
    expect((await patch(path, 0, 100, { 'Content-Type': 'video/mp4' })).status).toBe(415);
    expect((await patch(path, 0, 100, { 'Upload-Checksum': 'crc99 AA==' })).status).toBe(400);
    expect((await patch(path, 0, 100)).status).toBe(204);
  });

  test('with a body of unknown length that is longer than the file', async () => {
    const path = await create(100);
    const request = httpRequest(`${engine.url}${path}`, {
      method: 'PATCH',
      headers: { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': ticket.token, ...part(0) },
    });
    const status = statusOf(request.on('error', () => {}));
    request.end(FILE.subarray(0, 101));
    expect(await status).toBe(413);
    expect((await patch(path, 0, 100)).status).toBe(204);
  });

  test('with a file that exceeds a quota, and the response has the figures of the quota', async () => {
    ticket.overQuota = true;
    const response = await send('POST', '/files', { 'Upload-Length': '5' });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'quota_exceeded', ...QUOTA_FIGURES });
  });

  test('with the token of another video', async () => {
    const path = await create();
    const other = engine.controlPlane.issue();
    for (const method of ['HEAD', 'DELETE'])
      expect((await send(method, path, { 'X-Upload-Token': other.token })).status).toBe(404);
    expect((await patch(path, 0, 10, { 'X-Upload-Token': other.token })).status).toBe(404);
  });

  test.each(['xfr_%00', '%00', 'xfr_%ff', 'xfr_%ed%a0%80', 'xfr_%zz'])(
    'for %s, which no upload can be named: PostgreSQL cannot store it',
    async (id) => {
      // Earlier uploads may still save their checkpoints.
      const opened = () =>
        engine.controlPlane.requests.filter((path) => /resumable-uploads\/(open|terminate)$/.test(path))
          .length;
      const before = opened();
      for (const method of ['HEAD', 'DELETE']) expect((await send(method, `/files/${id}`)).status).toBe(404);
      expect((await patch(`/files/${id}`, 0, 10)).status).toBe(404);
      expect(opened()).toBe(before);
    },
  );

  test('while the control plane is unavailable or the workspace has too many uploads, so that clients retry and do not start over', async () => {
    const path = await create();
    engine.controlPlane.broken.add(INTERNAL_PATHS.openResumable).add(INTERNAL_PATHS.createResumable);
    expect((await send('HEAD', path)).status).toBe(423);
    expect((await patch(path, 0, 10)).status).toBe(503);
    expect((await send('POST', '/files', { 'Upload-Length': '5' })).status).toBe(503);
    engine.controlPlane.broken.clear();
    ticket.crowded = true;
    expect((await send('HEAD', path)).status).toBe(423);
    const response = await patch(path, 0, 10);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
  });
});

test('uploads are counted by their outcomes', async () => {
  const shared = engine;
  // The uploads of other tests pause in the shared engine.
  engine = await startTestEngine({ env: ONLY_RECEIVES, limits: { pauseSeconds: 1 } });
  try {
    ticket = engine.controlPlane.issue();
    const metricsOf = async (name: string) =>
      (await PrometheusText.scrape(`${engine.internalUrl}/metrics`)).withPrefix(name);
    const path = await create();
    const request = openPatch(path, 0, 1000);
    const status = statusOf(request);
    request.write(FILE.subarray(0, 500));
    await until(async () => (await receivedBytes()) === 500);
    expect(await metricsOf(ACTIVE)).toEqual({ [ACTIVE]: 1 });
    request.end(FILE.subarray(500, 1000));
    expect(await status).toBe(204);
    await until(() => ticket.transferId === null);
    await patch(path, 1000, 2000, { 'Upload-Checksum': 'md5 AA==' });
    await patch(path, 1000, FILE.byteLength);
    await patch(path, 0, 10, { 'X-Upload-Token': 'x' });
    expect(await metricsOf(UPLOADS)).toMatchObject({
      [`${UPLOADS}{outcome="paused",code=""}`]: 1,
      [`${UPLOADS}{outcome="broken",code="checksum_mismatch"}`]: 1,
      [`${UPLOADS}{outcome="received",code=""}`]: 1,
      [`${UPLOADS}{outcome="refused",code="upload_token_invalid"}`]: 1,
    });
    expect(await metricsOf(ACTIVE)).toEqual({ [ACTIVE]: 0 });
  } finally {
    await engine.stop();
    engine = shared;
  }
});

test('the method may be overridden', async () => {
  const path = await create();
  const override = (method: string) => send('POST', path, { 'X-HTTP-Method-Override': method });
  expect((await override('HEAD')).headers.get('upload-offset')).toBe('0');
  const headers = { ...part(0), 'X-HTTP-Method-Override': 'PATCH' };
  expect((await send('POST', path, headers, FILE)).status).toBe(204);
  await expectComplete();
});

test('browsers may send and read all headers of the protocol, from any origin', async () => {
  const preflight = await fetch(`${engine.url}/files`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PATCH' },
  });
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST,HEAD,PATCH,DELETE',
    'access-control-allow-headers':
      'X-Upload-Token,Content-Type,Tus-Resumable,Upload-Length,Upload-Metadata,Upload-Offset,Upload-Checksum,X-HTTP-Method-Override,X-Request-ID',
    'tus-version': '1.0.0',
    'tus-extension': 'creation,creation-with-upload,expiration,termination,checksum',
    'tus-checksum-algorithm': 'sha1,sha256,md5',
  });
  const created = await send('POST', '/files', { 'Upload-Length': '5', Origin: 'https://a.example' });
  expect(created.headers.get('access-control-expose-headers')).toBe(
    'Location,Tus-Resumable,Tus-Version,Tus-Extension,Tus-Checksum-Algorithm,Upload-Offset,Upload-Length,Upload-Metadata,Upload-Expires,X-Request-Id,Retry-After',
  );
});
