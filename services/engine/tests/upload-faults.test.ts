import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { sourcePrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { CLOSING_BOUNDARY, filePartHead, formWith, joined, textPart } from '@framelane/test-kit/multipart';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FakeTicket } from './support/fake-control-plane.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

const FILE = randomBytes(2_000_000);
const FORM = formWith(FILE);
const MAX_UPLOADS = 5;

/** Methods of the object store and the bus that one test replaces. */
const storageFaults: Partial<ObjectStore> = {};
const busFaults: Partial<MessageBus> = {};

let engine: TestEngine;
let ticket: FakeTicket;
const clients: RawClient[] = [];

beforeAll(async () => {
  engine = await startTestEngine({
    env: { ...ONLY_RECEIVES, UPLOAD_IDLE_SECONDS: '1', ENGINE_MAX_UPLOADS: String(MAX_UPLOADS) },
    limits: { registerSeconds: 2 },
    wrapObjects: (objects) => withFaults(objects, storageFaults),
    wrapBus: (bus) => withFaults(bus, busFaults),
  });
});
beforeEach(() => {
  ticket = engine.controlPlane.issue();
});
afterEach(() => {
  for (const faults of [storageFaults, busFaults]) {
    for (const name of Object.keys(faults)) delete faults[name as never];
  }
  engine.controlPlane.broken.clear();
  for (const client of clients.splice(0)) client.disconnect();
});
afterAll(async () => {
  await engine.stop();
});

async function connect(): Promise<RawClient> {
  const client = await RawClient.connect(engine.port);
  clients.push(client);
  return client;
}

/** Begins an upload and sends `sent` of the `length` announced bytes. */
async function beginUpload(sent: Buffer, length: number | null = FORM.byteLength): Promise<RawClient> {
  const client = await connect();
  client.sendHead({ token: ticket.token, length });
  if (length === null) client.sendChunk(sent);
  else client.send(sent);
  return client;
}

/** Waits until the engine stores bytes of the file. */
async function beingStored(): Promise<void> {
  await until(async () => (await engine.storedFiles()).find((f) => f.startsWith('.tmp')));
}

async function upload(form = FORM): Promise<{ status: number; headers: Headers; body: unknown }> {
  const client = await connect();
  client.sendHead({ token: ticket.token, length: form.byteLength });
  client.send(form);
  const { status, headers, body } = await client.response();
  return { status, headers: new Headers([...headers]), body };
}

function aForm(): FormData {
  const form = new FormData();
  form.set('file', new Blob([FILE]), 'a.mp4');
  return form;
}

/** How many uploads have failed with a code. */
async function brokenUploads(code: string): Promise<number> {
  const { series } = await PrometheusText.scrape(`${engine.internalUrl}/metrics`);
  return series.get(`framelane_engine_uploads_total{outcome="broken",code="${code}"}`) ?? 0;
}

/** The object key of the latest transfer. */
function source(): string {
  const latest = ticket.sources.at(-1);
  if (latest === undefined) throw new Error('No transfer has begun');
  return latest;
}

/** The uploads registered for the ticket. */
function completions() {
  return engine.controlPlane.completions.filter(({ videoId }) => videoId === ticket.videoId);
}

/** All stored files of the video's transfers, complete or not. */
async function storedTransfers(): Promise<string[]> {
  const sources = sourcePrefix(ticket.workspaceId, ticket.videoId);
  return (await engine.storedFiles()).filter((file) => file.startsWith('.tmp') || file.startsWith(sources));
}

async function released(): Promise<void> {
  await until(() => ticket.transferId === null);
}

/** After every fault, no byte of the file stays stored, and no transfer holds the ticket. */
async function expectNothingLeft(): Promise<void> {
  await released();
  expect(await storedTransfers()).toEqual([]);
  expect(completions()).toEqual([]);
}

/** The same token works once the fault has ended. */
async function expectUsableToken(): Promise<void> {
  expect((await upload()).status).toBe(202);
  expect((await engine.objects.head(source()))?.bytes).toBe(FILE.byteLength);
}

describe('a file over the limit', () => {
  beforeEach(() => {
    ticket.maxBytes = 1_000_000;
  });

  test('is refused by its Content-Length before the client sends a byte', async () => {
    const client = await connect();
    client.sendHead({ token: ticket.token, length: FORM.byteLength });
    expect(await client.response()).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', maxBytes: 1_000_000 },
    });
    expect(ticket.transferId).toBeNull();
  });

  test('is refused at once when the streamed bytes exceed the limit, and the connection closes', async () => {
    const client = await beginUpload(FORM.subarray(0, 1_200_000), null);
    const response = await client.response();
    expect(response).toMatchObject({ status: 413, body: { code: 'file_too_large', maxBytes: 1_000_000 } });
    expect(response.headers.get('connection')).toBe('close');
    await expectNothingLeft();
    await client.closedByServer();
  });

  test('is refused if it is one byte larger; a file of exactly the limit is accepted', async () => {
    ticket.maxBytes = FILE.byteLength;
    expect((await upload()).status).toBe(202);
    ticket = engine.controlPlane.issue({ maxBytes: FILE.byteLength - 1 });
    expect((await upload()).status).toBe(413);
    await expectNothingLeft();
  });
});

describe('the response to a form that the client is still sending', () => {
  test('is sent at once for a second file', async () => {
    const client = await beginUpload(
      joined(FORM.subarray(0, -CLOSING_BOUNDARY.length), filePartHead(), 'x'),
      null,
    );
    expect(await client.response()).toMatchObject({ status: 400, body: { code: 'multiple_files' } });
    await expectNothingLeft();
  });

  test('is sent at once for an invalid field, and reaches a client that continues to send', async () => {
    const client = await beginUpload(joined(textPart(`a${'[b]'.repeat(20)}`, 'x'), filePartHead()), null);
    const sending = setInterval(() => client.sendChunk(Buffer.alloc(64 * 1024)), 5);
    try {
      expect(await client.response()).toMatchObject({ status: 400, body: { code: 'malformed_multipart' } });
      await client.closedByServer();
    } finally {
      clearInterval(sending);
    }
    await expectNothingLeft();
  });
});

describe('a client', () => {
  test('that disconnects at 60 % leaves nothing behind', async () => {
    const client = await beginUpload(FORM.subarray(0, FORM.byteLength * 0.6));
    await beingStored();
    client.disconnect();
    await expectNothingLeft();
    expect(engine.controlPlane.releases.at(-1)).toMatchObject({ videoId: ticket.videoId });
    await expectUsableToken();
  });

  test('that closes its side before its Content-Length is reached leaves nothing behind', async () => {
    const client = await beginUpload(FORM.subarray(0, FORM.byteLength - 10));
    await beingStored();
    client.socket.end();
    await expectNothingLeft();
    await expectUsableToken();
  });

  test('that sends more than its Content-Length gets 400', async () => {
    const client = await connect();
    client.sendHead({ token: ticket.token, length: FORM.byteLength - 10 });
    client.send(FORM);
    expect((await client.response()).status).toBe(400);
    await expectNothingLeft();
  });

  test('that disconnects while its token is redeemed leaves a valid token', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    engine.controlPlane.gate = promise;
    engine.controlPlane.requests.length = 0;
    const client = await beginUpload(FORM.subarray(0, 1000));
    await until(() => engine.controlPlane.requests.includes(INTERNAL_PATHS.redeemTicket));
    client.disconnect();
    // Gives the engine time to notice the disconnection.
    const before = await brokenUploads('upload_interrupted').finally(resolve);
    await until(() => engine.controlPlane.releases.find(({ videoId }) => videoId === ticket.videoId));
    await expectNothingLeft();
    await until(async () => (await brokenUploads('upload_interrupted')) === before + 1);
  });

  test.each([
    ['before the file', Buffer.from(textPart('title', 'x'))],
    ['in the middle of the file', FORM.subarray(0, 1_000_000)],
    ['after the file', FORM.subarray(0, -1)],
  ])('that stops sending %s gets 408', async (_where, sent) => {
    const client = await beginUpload(sent);
    expect(await client.response()).toMatchObject({ status: 408, body: { code: 'upload_timeout' } });
    await expectNothingLeft();
    await expectUsableToken();
  });

  test('that disconnects after its last byte does not cancel the upload', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    storageFaults.head = async (key) => {
      await promise;
      return engine.objects.head(key);
    };
    const client = await beginUpload(FORM);
    await until(() => ticket.transferId);
    await until(() => engine.objects.head(source()).then((found) => found ?? undefined));
    client.disconnect();
    await once(client.socket, 'close');
    resolve();
    await until(() => completions()[0]);
    expect((await engine.objects.head(source()))?.bytes).toBe(FILE.byteLength);
  });

  test('gets 409 when its upload is cancelled', async () => {
    ticket.leaseSeconds = 1;
    const client = await beginUpload(FORM.subarray(0, 1_000_000));
    await beingStored();
    ticket.deleted = true;
    expect(await client.response()).toMatchObject({ status: 409, body: { code: 'upload_cancelled' } });
    await expectNothingLeft();
  });
});

describe('a body that arrives byte by byte and is not read', () => {
  const upload = `POST /upload HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nX-Upload-Token: `;
  test.each([
    ['of a GET request', () => engine.port, 'GET /healthz HTTP/1.1', 200],
    ['of an unknown route', () => engine.port, 'POST /films HTTP/1.1', 404],
    ['of an upload with an unknown token', () => engine.port, `${upload}ut_unknown`, 401],
    [
      'to the internal listener',
      () => Number(new URL(engine.internalUrl).port),
      'GET /healthz HTTP/1.1',
      200,
    ],
  ])('%s: the response comes, and the connection ends', async (_what, port, head, status) => {
    const client = await RawClient.connect(port());
    clients.push(client);
    client.send(`${head}\r\nHost: engine\r\nContent-Length: 100000\r\n\r\n`);
    const dripping = setInterval(() => client.send('x'), 100);
    try {
      expect((await client.response()).status).toBe(status);
      await client.closedByServer();
    } finally {
      clearInterval(dripping);
    }
  });
});

describe('the lease of a ticket', () => {
  test('is renewed during the upload', async () => {
    ticket.leaseSeconds = 1;
    const client = await beginUpload(FORM.subarray(0, 1_000_000), null);
    const renewal = await until(() =>
      engine.events('upload.progress').find(({ data }) => data.videoId === ticket.videoId),
    );
    expect(renewal.data).toEqual({ videoId: ticket.videoId, transferId: ticket.transferId });
    client.sendChunk(FORM.subarray(1_000_000));
    client.send('0\r\n\r\n');
    expect((await client.response()).status).toBe(202);
  });

  describe('that another transfer took', () => {
    /** Begins an upload, then lets another client take its ticket and upload another file. */
    async function beginOvertaken(): Promise<{ late: RawClient; successor: string }> {
      const late = await beginUpload(FORM.subarray(0, -CLOSING_BOUNDARY.length), null);
      await until(() => ticket.transferId);
      ticket.transferId = null;
      expect((await upload(formWith('the file of the other'))).status).toBe(202);
      return { late, successor: source() };
    }

    async function expectUntouched(successor: string): Promise<void> {
      const { body } = await engine.objects.get(successor);
      expect((await buffer(body)).toString()).toBe('the file of the other');
    }

    test('protects the file of that transfer, however late the first transfer ends', async () => {
      const { late, successor } = await beginOvertaken();
      late.sendChunk(CLOSING_BOUNDARY);
      late.send('0\r\n\r\n');
      expect(await late.response()).toMatchObject({ status: 409, body: { code: 'upload_cancelled' } });
      await expectUntouched(successor);
      expect(await storedTransfers()).toEqual([successor]);
      expect(completions()).toHaveLength(1);
    });

    test('protects the file of that transfer when the first transfer fails and deletes its own', async () => {
      const { late, successor } = await beginOvertaken();
      late.sendChunk(textPart('a', 'b'));
      late.send('0\r\n\r\n');
      expect((await late.response()).status).toBe(400);
      await expectUntouched(successor);
      expect(await storedTransfers()).toEqual([successor]);
    });
  });
});

describe('an object store that', () => {
  async function failAfter(bytes: number, body: Readable, code: string): Promise<never> {
    let read = 0;
    for await (const chunk of body) {
      read += chunk.length;
      if (read >= bytes) throw Object.assign(new Error(`write failed: ${code}`), { code });
    }
    throw new Error('the file was too short for the fault');
  }

  test.each([
    ['EIO', 503, 'unavailable'],
    ['ENOSPC', 507, 'insufficient_storage'],
  ])(
    'fails with %s during the upload: the client gets the problem at once',
    async (code, status, problem) => {
      storageFaults.putStream = (_key, body) => failAfter(100_000, body, code);
      const client = await beginUpload(FORM.subarray(0, 1_000_000));
      const response = await client.response();
      expect(response).toMatchObject({ status, body: { code: problem } });
      expect(response.headers.has('retry-after')).toBe(status === 503);
      expect(JSON.stringify(response.body)).not.toContain(code);
      storageFaults.putStream = engine.objects.putStream.bind(engine.objects);
      await expectNothingLeft();
      await expectUsableToken();
    },
  );

  test('refuses at once: the client gets 503', async () => {
    storageFaults.putStream = async () => {
      throw new Error('no connection');
    };
    expect((await upload()).status).toBe(503);
    await expectNothingLeft();
  });

  test('accepts no bytes for a while: the client gets no timeout', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    storageFaults.putStream = async (...args) => {
      await promise;
      return engine.objects.putStream(...args);
    };
    const client = await beginUpload(FORM);
    // Longer than the idle timeout of one second in this test.
    const noResponse = once(client.socket, 'data', { signal: AbortSignal.timeout(1_600) });
    await expect(noResponse).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    resolve();
    expect((await client.response()).status).toBe(202);
  });

  test('stored another number of bytes than received: the file is deleted', async () => {
    storageFaults.head = async (key) => {
      const info = await engine.objects.head(key);
      return info && { ...info, bytes: info.bytes - 1 };
    };
    expect((await upload()).status).toBe(503);
    await expectNothingLeft();
    delete storageFaults.head;
    await expectUsableToken();
  });
});

describe('a disk', () => {
  const TOTAL = 100_000_000;
  const RESERVE = TOTAL / 20;
  const disk = { freeBytes: 0, totalBytes: TOTAL };
  const FULL = { status: 507, body: { code: 'insufficient_storage' } };
  beforeEach(() => {
    storageFaults.diskSpace = async () => ({ ...disk });
  });

  test('without headroom for the announced bytes refuses the upload before they are sent', async () => {
    disk.freeBytes = RESERVE + FORM.byteLength - 1;
    const client = await connect();
    client.sendHead({ token: ticket.token, length: FORM.byteLength });
    expect(await client.response()).toMatchObject(FULL);
    await expectNothingLeft();
    disk.freeBytes += 1;
    await expectUsableToken();
  });

  test('gives the same headroom to one upload only', async () => {
    disk.freeBytes = RESERVE + 1.5 * FORM.byteLength;
    const first = await beginUpload(FORM.subarray(0, 1000));
    await beingStored();
    const held = ticket;
    ticket = engine.controlPlane.issue();
    expect(await upload()).toMatchObject(FULL);
    first.disconnect();
    await until(() => held.transferId === null);
    await expectUsableToken();
  });

  test('that other programs fill ends an upload without an announced size', async () => {
    disk.freeBytes = RESERVE + 1_500_000;
    const client = await beginUpload(FORM.subarray(0, 1_000_000), null);
    await beingStored();
    disk.freeBytes = RESERVE;
    client.sendChunk(FORM.subarray(1_000_000));
    expect(await client.response()).toMatchObject(FULL);
    await expectNothingLeft();
  });

  test('without headroom is named by /readyz', async () => {
    const missing = async () => {
      const body = await (await fetch(`${engine.url}/readyz`)).json();
      return (body as { missing: string[] }).missing;
    };
    // The readiness checks run once a second.
    const isMissing = (names: string[]) => until(async () => String(await missing()) === String(names));
    disk.freeBytes = RESERVE + 1;
    await isMissing([]);
    disk.freeBytes = RESERVE;
    await isMissing(['disk']);
  });
});

test('an engine at its limit of concurrent uploads refuses the next one before it redeems the ticket', async () => {
  engine.controlPlane.requests.length = 0;
  const begun: RawClient[] = [];
  for (let count = 0; count < MAX_UPLOADS; count += 1) {
    ticket = engine.controlPlane.issue();
    begun.push(await beginUpload(FORM.subarray(0, 1000)));
  }
  const redeemed = () => engine.controlPlane.requests.filter((path) => path === INTERNAL_PATHS.redeemTicket);
  await until(() => redeemed().length === MAX_UPLOADS);
  ticket = engine.controlPlane.issue();
  const response = await upload();
  expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(response.headers.get('retry-after')).toBe('5');
  expect(redeemed()).toHaveLength(MAX_UPLOADS);
  for (const client of begun) client.disconnect();
  await until(async () => (await upload()).status === 202);
});

test('a slow upload gives its slot to the next one if no slot is free', async () => {
  const own = await startTestEngine({
    env: { ...ONLY_RECEIVES, ENGINE_MAX_UPLOADS: '1' },
    limits: { recentSeconds: 0.5 },
  });
  const slow = await RawClient.connect(own.port);
  try {
    const held = own.controlPlane.issue();
    slow.sendHead({ token: held.token, length: FORM.byteLength });
    slow.send(FORM.subarray(0, 1000));
    const next = own.controlPlane.issue();
    const send = (token: string) =>
      fetch(`${own.url}/upload`, {
        method: 'POST',
        headers: { 'X-Upload-Token': token },
        body: aForm(),
      });
    // Anybody can send a request; only one that the control plane admits takes a slot.
    await until(async () => (await send('ut_unknown')).status === 401);
    expect(held.transferId).not.toBeNull();
    const statuses = new Set<number>();
    await until(async () => {
      const { status } = await send(next.token);
      statuses.add(status);
      return status === 202;
    });
    expect([...statuses].filter((status) => ![202, 503].includes(status))).toEqual([]);
    expect(await slow.response()).toMatchObject({ status: 408, body: { code: 'upload_timeout' } });
    await until(() => held.transferId === null);
  } finally {
    slow.disconnect();
    await own.stop();
  }
});

test('refused tickets use up no place of an engine', async () => {
  const { token } = ticket;
  ticket.token = 'ut_unknown';
  for (let count = 0; count < MAX_UPLOADS; count += 1) expect((await upload()).status).toBe(401);
  ticket.token = token;
  expect((await upload()).status).toBe(202);
});

test('a file is stored as bytes without a type, and only if nothing is stored under its key', async () => {
  const options: unknown[] = [];
  storageFaults.putStream = async (key, body, stored) => {
    options.push(stored);
    return engine.objects.putStream(key, body, stored);
  };
  expect((await upload()).status).toBe(202);
  expect(options).toMatchObject([{ contentType: 'application/octet-stream', ifAbsent: true }]);
});

test('a file is registered while the message bus is down', async () => {
  busFaults.publish = async () => {
    throw new Error('broker away');
  };
  expect((await upload()).status).toBe(202);
  expect(completions()).toHaveLength(1);
});

describe('a stored file', () => {
  const MEANWHILE: [string, () => void, number, string][] = [
    ['was deleted', () => Object.assign(ticket, { deleted: true }), 409, 'upload_cancelled'],
    [
      'failed because its ticket expired',
      () => Object.assign(ticket, { failed: true }),
      401,
      'upload_token_expired',
    ],
  ];
  test.each(MEANWHILE)(
    'whose video %s during the upload is refused and deleted',
    async (_what, change, status, code) => {
      storageFaults.head = async (key) => {
        change();
        return engine.objects.head(key);
      };
      expect(await upload()).toMatchObject({ status, body: { code } });
      await expectNothingLeft();
    },
  );

  test('is received although the response to the redemption of its token is lost', async () => {
    engine.controlPlane.losesClaims = 1;
    expect((await upload()).status).toBe(202);
    expect(ticket.sources).toHaveLength(1);
    expect(engine.controlPlane.losesClaims).toBe(0);
  });

  test('is registered by a retry when the first response is lost', async () => {
    engine.controlPlane.losesResponses = 1;
    expect((await upload()).status).toBe(202);
    expect(completions()).toHaveLength(1);
  });

  test('is registered by an event while the control plane is unavailable: 503, and the ticket is not released', async () => {
    engine.controlPlane.broken.add(INTERNAL_PATHS.completeTransfer);
    const response = await upload();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    const [event, ...others] = engine
      .events('upload.completed')
      .filter(({ data }) => data.videoId === ticket.videoId);
    expect(event?.data).toMatchObject({ transferId: ticket.transferId, bytes: FILE.byteLength });
    expect(others).toEqual([]);
    expect(engine.controlPlane.releases.filter(({ videoId }) => videoId === ticket.videoId)).toEqual([]);
    expect((await engine.objects.head(source()))?.bytes).toBe(FILE.byteLength);
    engine.controlPlane.broken.clear();
    expect(await upload()).toMatchObject({ status: 401, body: { code: 'upload_token_used' } });
  });

  test('releases its ticket when the control plane and the bus are unavailable', async () => {
    engine.controlPlane.broken.add(INTERNAL_PATHS.completeTransfer);
    busFaults.publish = async () => {
      throw new Error('broker away');
    };
    expect((await upload()).status).toBe(503);
    await released();
    expect(completions()).toEqual([]);
    engine.controlPlane.broken.clear();
    await expectUsableToken();
  });
});

describe('a control plane that', () => {
  test('is unavailable at the start: 503 before the body is read', async () => {
    engine.controlPlane.broken.add(INTERNAL_PATHS.redeemTicket);
    const client = await connect();
    client.sendHead({ token: ticket.token, length: FORM.byteLength });
    const response = await client.response();
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(response.headers.get('retry-after')).toBe('5');
    engine.controlPlane.broken.clear();
    await expectUsableToken();
  });

  test('is unavailable only during the upload does not affect it', async () => {
    ticket.leaseSeconds = 1;
    const client = await beginUpload(FORM.subarray(0, 1000));
    await until(() => ticket.transferId);
    engine.controlPlane.requests.length = 0;
    engine.controlPlane.broken.add(INTERNAL_PATHS.checkTransfer);
    await until(() => engine.controlPlane.requests.includes(INTERNAL_PATHS.checkTransfer));
    client.send(FORM.subarray(1000));
    expect((await client.response()).status).toBe(202);
  });

  test('is unavailable at the end gets an event instead of a request', async () => {
    engine.controlPlane.broken.add(INTERNAL_PATHS.releaseTransfer);
    const client = await beginUpload(FORM.subarray(0, 1000));
    await until(() => ticket.transferId);
    client.disconnect();
    const event = await until(() =>
      engine.events('upload.aborted').find(({ data }) => data.videoId === ticket.videoId),
    );
    expect(event.data).toEqual({ videoId: ticket.videoId, transferId: ticket.transferId });
  });
});
