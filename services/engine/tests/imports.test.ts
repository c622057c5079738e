import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import { newId } from '@framelane/contracts/ids';
import {
  type ClaimedImport,
  type EndImportTryRequest,
  INTERNAL_PATHS,
} from '@framelane/contracts/internal-api';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { withEnvironmentProxy } from '@framelane/test-kit/environment-proxy';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { CERTIFICATE, startTlsServer } from '@framelane/test-kit/tls-server';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ImportSettings } from '../src/config.ts';
import { RemoteServer, type RespondTo } from './support/remote-server.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

const FILE = randomBytes(300_000);
const HALF = FILE.byteLength / 2;
const STRONG = '"v1"';

let engine: TestEngine;
let server: RemoteServer;
/** Another origin. */
let other: RemoteServer;
/** The addresses of each host name, one entry per lookup. Further lookups get the last entry. */
const names = new Map<string, string[][]>();

beforeAll(async () => {
  [server, other] = await Promise.all([RemoteServer.start(), RemoteServer.start('127.0.0.2')]);
  engine = await startTestEngine({
    env: { ...ONLY_RECEIVES, IMPORT_ALLOW_CIDRS: '127.0.0.0/8', UPLOAD_DRAIN_SECONDS: '0' },
    limits: { idleSeconds: 1, minBytesPerSecond: 0 },
    imports: { maxConcurrent: 100, pollSeconds: 0.02, headSeconds: 2, pauseSeconds: [0, 0, 0, 0] },
    resolveHost: async (hostname) => {
      const answers = names.get(hostname) ?? [];
      const addresses = answers.length > 1 ? answers.shift() : answers[0];
      if (addresses === undefined) throw new HostNotFoundError(hostname);
      return addresses;
    },
  });
});
afterAll(async () => {
  await engine.stop();
  await Promise.all([server.stop(), other.stop()]);
});

/** Resolves with the registered file. */
async function received({ videoId, sourceKey }: ClaimedImport): Promise<Buffer> {
  const completion = await until(async () => {
    const end = engine.controlPlane.endedTries.find((each) => each.videoId === videoId);
    if (end !== undefined) throw new Error(`The import ended with ${JSON.stringify(end)}`);
    return engine.controlPlane.completions.find((each) => each.videoId === videoId);
  });
  const stored = await buffer((await engine.objects.get(sourceKey)).body);
  const sha256 = createHash('sha256').update(stored).digest('hex');
  expect(completion).toMatchObject({ bytes: stored.byteLength, sha256 });
  return stored;
}

/** Resolves with the end of the try. Checks that nothing of the file is stored. */
async function ended({ videoId, sourceKey }: ClaimedImport): Promise<EndImportTryRequest> {
  const end = await until(async () =>
    engine.controlPlane.endedTries.find((each) => each.videoId === videoId),
  );
  expect(await engine.objects.head(sourceKey)).toBeNull();
  expect(engine.controlPlane.completions.some((each) => each.videoId === videoId)).toBe(false);
  return end;
}

/** Makes an import due. Returns it as the engine will claim it. */
const importOf = (url: string, options?: Partial<ClaimedImport>) => engine.controlPlane.import(url, options);
const importFrom = (respond: RespondTo, options?: Partial<ClaimedImport>) =>
  importOf(server.serve(respond), options);

/** Sends the whole file without its length. */
const chunked: RespondTo = (res) => void res.writeHead(200, { 'Transfer-Encoding': 'chunked' }).end(FILE);

/** Sends a response that does not end. `connection.isClosed` tells whether the engine has closed its connection. */
function endless(status: number, headers: Record<string, string> = {}) {
  const connection = { isClosed: false };
  const respond: RespondTo = (res) => {
    res.writeHead(status, { 'Transfer-Encoding': 'chunked', ...headers });
    const timer = setInterval(() => res.write(FILE), 10);
    res.once('close', () => {
      clearInterval(timer);
      connection.isClosed = true;
    });
  };
  return { connection, respond };
}

const wholeFile: RespondTo = (res) => res.writeHead(200, { 'Content-Length': FILE.byteLength }).end(FILE);

/** Sends the head and the first half of the file, then closes the connection. */
function half(headers: Record<string, string> = { ETag: STRONG }): RespondTo {
  return (res) => {
    res.writeHead(200, { 'Content-Length': FILE.byteLength, ...headers });
    res.write(FILE.subarray(0, HALF), () => res.destroy());
  };
}

/** Responds to the first request with half of the file, and to the second as given. */
const halfThen =
  (respond: RespondTo, headers?: Record<string, string>): RespondTo =>
  (res, req, nth) =>
    nth === 1 ? half(headers)(res, req, nth) : respond(res, req, nth);

const RANGE = { 'Content-Range': `bytes ${HALF}-${FILE.byteLength - 1}/${FILE.byteLength}` };

/** Sends the second half of the file. */
const rest =
  (headers: Record<string, string | number> = {}): RespondTo =>
  (res) =>
    void res.writeHead(206, { ETag: STRONG, ...RANGE, ...headers }).end(FILE.subarray(HALF));

const redirectTo =
  (location: string, status = 302): RespondTo =>
  (res) =>
    void res.writeHead(status, { Location: location }).end();

describe('a file', () => {
  test('is stored, hashed and registered; the request has the headers of the import', async () => {
    const url = server.serve(wholeFile);
    const own = { 'X-Secret': 'x', 'User-Agent': 'Own/1', 'Accept-Encoding': 'gzip' };
    const claimed = importOf(`${url}?signature=a`, { headers: own });
    expect((await received(claimed)).equals(FILE)).toBe(true);
    const [headers] = server.requestsFor(url);
    expect(headers).toMatchObject({ 'x-secret': 'x', 'user-agent': 'Own/1', 'accept-encoding': 'identity' });
    expect(headers).not.toHaveProperty('range');
    const metrics = await PrometheusText.scrape(`${engine.internalUrl}/metrics`);
    expect(metrics.series.get('framelane_engine_imports_total{outcome="received",code=""}')).toBeGreaterThan(
      0,
    );
    expect(metrics.series.get('framelane_engine_import_bytes_total')).toBeGreaterThanOrEqual(FILE.byteLength);
  });

  test('can have an unknown length; the request names the program', async () => {
    const url = server.serve(chunked);
    const stored = await received(importOf(url, { maxBytes: FILE.byteLength }));
    expect(stored.equals(FILE)).toBe(true);
    expect(server.requestsFor(url)).toMatchObject([{ 'user-agent': 'Framelane-Import/1.0' }]);
  });

  test('can take longer than the idle timeout, also while the control plane is unavailable', async () => {
    const { broken, requests } = engine.controlPlane;
    const reports = () => requests.filter((path) => path === INTERNAL_PATHS.importProgress).length;
    broken.add(INTERNAL_PATHS.importProgress);
    const before = reports();
    const claimed = importFrom(
      (res) => {
        res.writeHead(200, { 'Transfer-Encoding': 'chunked' });
        const timer = setInterval(() => {
          // Two reports were refused; then, with four more, the file takes longer than a second.
          if (reports() === before + 2) broken.delete(INTERNAL_PATHS.importProgress);
          res.write('a');
          if (reports() < before + 6) return;
          clearInterval(timer);
          res.end();
        }, 20);
      },
      { leaseSeconds: 1 },
    );
    const stored = await received(claimed);
    expect(stored.toString()).toMatch(/^a{10,}$/);
  });

  test('without a length and without chunks counts as complete when the connection closes', async () => {
    // An HTTP/1 client cannot distinguish this from a truncated file.
    const claimed = importFrom((res) => {
      res.socket?.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      res.socket?.end(FILE.subarray(0, HALF));
    });
    expect((await received(claimed)).byteLength).toBe(HALF);
  });

  test('can be fetched by host name; the engine connects to the address that it checked', async () => {
    names.set('media.example', [['127.0.0.1']]);
    const url = server.serve(wholeFile).replace('127.0.0.1', 'media.example');
    await received(importOf(url));
    expect(server.requestsFor(url)[0]?.host).toBe(`media.example:${server.port}`);
  });

  test('is fetched without the proxy of the environment', async () => {
    expect(await withEnvironmentProxy(() => received(importFrom(wholeFile)))).toEqual([]);
  });

  test('is fetched with progress reports, until its transfer is no longer current', async () => {
    let closed = false;
    const claimed = importFrom(
      (res) => {
        res.writeHead(200, { 'Content-Length': FILE.byteLength }).write(FILE.subarray(0, HALF));
        const timer = setInterval(() => res.write('.'), 100);
        res.once('close', () => {
          clearInterval(timer);
          closed = true;
        });
      },
      { leaseSeconds: 1 },
    );
    const { controlPlane } = engine;
    const progress = await until(async () => {
      const latest = controlPlane.importProgress.get(claimed.transferId);
      return latest !== undefined && latest.bytes >= HALF ? latest : undefined;
    });
    expect(progress).toMatchObject({ totalBytes: FILE.byteLength, tries: 0, failure: null });
    controlPlane.currentImports.delete(claimed.transferId);
    await until(async () => closed);
    await until(async () => (await engine.storedFiles()).every((file) => !file.includes(claimed.transferId)));
    expect(controlPlane.endedTries.filter((end) => end.videoId === claimed.videoId)).toEqual([]);
  });
});

describe('a failure', () => {
  test.each<[string, string, RespondTo, Partial<ClaimedImport>]>([
    ['import_not_found', '404', (res) => void res.writeHead(404).end(), {}],
    ['import_not_found', '410', (res) => void res.writeHead(410).end(), {}],
    ['import_denied', '401', (res) => void res.writeHead(401).end(), {}],
    ['import_denied', '403', (res) => void res.writeHead(403).end(), {}],
    ['import_denied', '400', (res) => void res.writeHead(400).end(), {}],
    ['import_server_failed', '204', (res) => void res.writeHead(204).end(), {}],
    ['import_server_failed', '206, although no range was requested', rest(), {}],
    ['import_redirected', '304', (res) => void res.writeHead(304).end(), {}],
    ['import_redirected', 'no Location', (res) => void res.writeHead(302).end(), {}],
    ['import_redirected', 'another protocol', redirectTo('ftp://127.0.0.1/a.mp4'), {}],
    ['import_redirected', 'a user name', redirectTo('http://user@127.0.0.1/a.mp4'), {}],
    ['import_redirected', 'a loop', (res, req) => redirectTo(req.url ?? '')(res, req, 1), {}],
    [
      'import_encoded',
      'gzip',
      (res) => void res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(FILE),
      {},
    ],
    ['import_empty', 'no byte', (res) => void res.writeHead(200, { 'Content-Length': 0 }).end(), {}],
    [
      'import_empty',
      'no chunk',
      (res) => void res.writeHead(200, { 'Transfer-Encoding': 'chunked' }).end(),
      {},
    ],
    ['import_too_large', 'by its length', wholeFile, { maxBytes: FILE.byteLength - 1 }],
    ['import_too_large', 'by its bytes', chunked, { maxBytes: FILE.byteLength - 1 }],
    ['import_address_refused', 'a redirect to IPv6 loopback', redirectTo('http://[::1]:8080/'), {}],
    ['import_address_refused', 'a redirect to a mapped address', redirectTo('http://[::ffff:10.0.0.1]/'), {}],
    ['import_address_refused', 'a redirect to a number', redirectTo('http://167772161/'), {}],
    [
      'import_address_refused',
      'a redirect to metadata',
      redirectTo('http://0xa9fea9fe/latest/meta-data/'),
      {},
    ],
  ])('%s, final: %s', async (code, _, respond, options) => {
    const end = await ended(importFrom(respond, options));
    expect(end).toMatchObject({ failure: code, tries: 1, retryInSeconds: null });
  });

  test.each<[string, string, RespondTo]>([
    ['import_server_failed', '500', (res) => void res.writeHead(500).end()],
    ['import_server_failed', '429', (res) => void res.writeHead(429).end()],
    ['import_server_failed', '408', (res) => void res.writeHead(408).end()],
    ['import_server_failed', 'something other than HTTP', (res) => void res.socket?.end('hello\r\n')],
    ['import_unreachable', 'no response', (res) => void res.destroy()],
    [
      'import_unreachable',
      'another protocol',
      (res) =>
        void res.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
    ['import_timed_out', 'no response head', () => {}],
    ['import_timed_out', 'no more bytes', (res) => void res.writeHead(200).write('a')],
    ['import_incomplete', 'less than its length', half({ ETag: 'W/"weak"' })],
    ['import_incomplete', 'no last chunk', (res) => void res.write(FILE, () => res.destroy())],
  ])('%s, retried: %s', async (code, _, respond) => {
    const url = server.serve(respond);
    const [first, last] = await Promise.all([
      ended(importOf(url)),
      // The fifth try.
      ended(importOf(url, { tries: 4 })),
    ]);
    expect(first).toMatchObject({ failure: code, tries: 1, retryInSeconds: 0, startedOver: false });
    expect(last).toMatchObject({ failure: code, tries: 5, retryInSeconds: null });
  });

  test.each([
    ['of a response that is refused', 404],
    ['of a file that is too large', 200],
  ])('ends the connection %s', async (_, status) => {
    const { connection, respond } = endless(status);
    await ended(importFrom(respond, { maxBytes: 1 }));
    await until(async () => connection.isClosed);
  });

  test('is counted with its code', async () => {
    await ended(importFrom((res) => void res.writeHead(404).end()));
    const { series } = await PrometheusText.scrape(`${engine.internalUrl}/metrics`);
    expect(
      series.get('framelane_engine_imports_total{outcome="failed",code="import_not_found"}'),
    ).toBeGreaterThan(0);
  });

  test('before any byte makes the next try start over', async () => {
    const url = server.serve((res) => {
      res.writeHead(200, { ETag: STRONG, 'Content-Length': FILE.byteLength });
      res.flushHeaders();
      res.socket?.end();
    });
    expect(await ended(importOf(url))).toMatchObject({
      failure: 'import_incomplete',
      tries: 1,
      retryInSeconds: 0,
    });
    expect(server.requestsFor(url)).toHaveLength(1);
  });

  test('a redirect without a Location is not requested again', async () => {
    const url = server.serve((res) => void res.writeHead(302).end());
    await ended(importOf(url));
    expect(server.requestsFor(url)).toHaveLength(1);
  });

  test.each([
    ['7', 7],
    ['86400', 600],
  ])('Retry-After: %s delays the next try by %s seconds', async (header, seconds) => {
    const end = await ended(importFrom((res) => void res.writeHead(503, { 'Retry-After': header }).end()));
    expect(end).toMatchObject({ failure: 'import_server_failed', retryInSeconds: seconds });
  });

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a00:1]/',
    'http://2852039166/',
    'https://[fd00::1]/',
    'https://0300.0250.1/',
  ])('import_address_refused: %s', async (url) => {
    expect(await ended(importOf(url))).toMatchObject({
      failure: 'import_address_refused',
      retryInSeconds: null,
    });
  });

  test('import_host_not_found: one of the addresses of a name is private', async () => {
    names.set('half-inside.example', [['127.0.0.1', '10.0.0.1']]);
    const url = server.serve(wholeFile).replace('127.0.0.1', 'half-inside.example');
    expect(await ended(importOf(url))).toMatchObject({ failure: 'import_host_not_found' });
    expect(server.requestsFor(url)).toEqual([]);
  });

  test('no failure reveals whether a name exists in the network of the engine', async () => {
    names.set('database.internal', [['10.0.0.1']]);
    names.set('metadata.internal', [['169.254.169.254', 'fd00:ec2::254']]);
    const toName =
      (name: string): RespondTo =>
      (res) =>
        void res.writeHead(302, { Location: `http://${name}/` }).end();
    const outcomes = ['nowhere.internal', 'database.internal', 'metadata.internal', 'localhost'].map(
      async (name) => {
        const ends = await Promise.all([
          ended(importOf(`http://${name}:5432/a.mp4`)),
          ended(importOf(`https://${name}/a.mp4`, { tries: 4 })),
          ended(importFrom(toName(name))),
        ]);
        return ends.map(({ videoId, transferId, ...end }) => end);
      },
    );
    const [unknown, ...existing] = await Promise.all(outcomes);
    expect(unknown).toMatchObject([
      { failure: 'import_host_not_found', tries: 1, retryInSeconds: 0 },
      { failure: 'import_host_not_found', tries: 5, retryInSeconds: null },
      { failure: 'import_host_not_found', tries: 1, retryInSeconds: 0 },
    ]);
    for (const each of existing) expect(each).toEqual(unknown);
  });

  test('import_host_not_found: the name changes its address between two connections', async () => {
    names.set('rebinding.example', [['127.0.0.1'], ['10.0.0.1']]);
    const url = server.serve(half()).replace('127.0.0.1', 'rebinding.example');
    expect(await ended(importOf(url))).toMatchObject({ failure: 'import_host_not_found', tries: 5 });
    expect(server.requestsFor(url)).toHaveLength(1);
  });

  test('import_host_not_found', async () => {
    const end = await ended(importOf('http://nowhere.example/a.mp4'));
    expect(end).toMatchObject({ failure: 'import_host_not_found', retryInSeconds: 0 });
  });

  test('import_unreachable: nothing listens', async () => {
    const closed = await RemoteServer.start();
    const url = closed.serve(wholeFile);
    await closed.stop();
    expect(await ended(importOf(url))).toMatchObject({ failure: 'import_unreachable', retryInSeconds: 0 });
  });

  test('import_timed_out: the import takes too long', async () => {
    const claimed = importFrom(
      (res) => {
        res.writeHead(200).write('a');
        const timer = setInterval(() => res.write('a'), 50);
        res.once('close', () => clearInterval(timer));
      },
      { secondsLeft: 0.3 },
    );
    expect(await ended(claimed)).toMatchObject({ failure: 'import_timed_out', retryInSeconds: null });
  });
});

describe('TLS', () => {
  let secure: Awaited<ReturnType<typeof startTlsServer>>;
  beforeAll(async () => {
    secure = await startTlsServer(server.listener);
    names.set('hooks.example', [['127.0.0.1']]);
  });
  afterAll(() => secure.stop());
  /** The URL of a file at the TLS server. */
  const secureUrl = (respond: RespondTo) =>
    `https://hooks.example:${secure.port}${new URL(server.serve(respond)).pathname}`;

  test('import_tls_failed: the certificate is not trusted', async () => {
    const end = await ended(importOf(secureUrl(wholeFile)));
    expect(end).toMatchObject({ failure: 'import_tls_failed', retryInSeconds: null });
  });

  test('a trusted certificate is accepted, with the same time limits; a redirect to http is not', async () => {
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, CERTIFICATE]);
    try {
      await received(importOf(secureUrl(wholeFile)));
      const end = await ended(importOf(secureUrl(redirectTo(server.serve(wholeFile)))));
      expect(end).toMatchObject({ failure: 'import_redirected', retryInSeconds: null });
      await received(importOf(secureUrl(redirectTo(secureUrl(wholeFile)))));
      const silent = await ended(importOf(secureUrl(() => {})));
      expect(silent).toMatchObject({ failure: 'import_timed_out', retryInSeconds: 0 });
    } finally {
      setDefaultCACertificates(trusted);
    }
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%s is followed', async (status) => {
    await received(importFrom(redirectTo(server.serve(wholeFile), status)));
  });

  test('their connections are closed', async () => {
    const { connection, respond } = endless(302, { Location: server.serve(wholeFile) });
    await received(importFrom(respond));
    await until(async () => connection.isClosed);
  });

  test('five are followed, six are not', async () => {
    let url = server.serve(wholeFile);
    for (let hop = 0; hop < 5; hop += 1) url = server.serve(redirectTo(url));
    await received(importOf(url));
    const end = await ended(importFrom(redirectTo(url)));
    expect(end).toMatchObject({ failure: 'import_redirected', retryInSeconds: null });
  });

  test('only the first origin gets the headers, and only before a redirect to another origin', async () => {
    const last = server.serve(wholeFile);
    const foreign = other.serve(redirectTo(last));
    const second = server.serve(redirectTo(foreign));
    const first = server.serve(redirectTo(new URL(second).pathname));
    await received(importOf(first, { headers: { 'X-Secret': 'x', Authorization: 'Bearer x' } }));
    const secrets = [first, second, last].map((url) => server.requestsFor(url)[0]?.['x-secret']);
    expect(secrets).toEqual(['x', 'x', undefined]);
    expect(other.requestsFor(foreign)[0]).not.toHaveProperty('authorization');
    expect(other.requestsFor(foreign)[0]).not.toHaveProperty('x-secret');
  });
});

describe('an interrupted file', () => {
  const OLD = { 'Last-Modified': 'Sat, 21 Nov 2026 09:00:00 GMT', Date: 'Sat, 21 Nov 2026 09:01:00 GMT' };

  test.each<[string, RespondTo]>([
    ['a strong ETag', rest()],
    ['a strong ETag, and a second response with a Content-Length', rest({ 'Content-Length': HALF })],
  ])('continues with %s', async (_, respond) => {
    const url = server.serve(halfThen(respond));
    const claimed = importOf(url, { headers: { 'X-Secret': 'x' } });
    expect((await received(claimed)).equals(FILE)).toBe(true);
    expect(server.requestsFor(url)[1]).toMatchObject({
      range: `bytes=${HALF}-`,
      'if-range': STRONG,
      'x-secret': 'x',
    });
  });

  test('continues with an old Last-Modified, which the second response may omit', async () => {
    const restAlone: RespondTo = (res) => void res.writeHead(206, RANGE).end(FILE.subarray(HALF));
    const url = server.serve(halfThen(restAlone, OLD));
    expect((await received(importOf(url))).equals(FILE)).toBe(true);
    expect(server.requestsFor(url)[1]?.['if-range']).toBe(OLD['Last-Modified']);
  });

  test('continues after a response that is shorter than its range', async () => {
    const short = FILE.subarray(HALF, HALF + 10);
    const url = server.serve((res, req, nth) => {
      if (nth === 1) return half()(res, req, nth);
      const from = HALF + (nth - 2) * 10;
      const range = { 'Content-Range': `bytes ${from}-${FILE.byteLength - 1}/${FILE.byteLength}` };
      res.writeHead(206, { ETag: STRONG, ...range, 'Transfer-Encoding': 'chunked' });
      res.end(nth === 2 ? short : FILE.subarray(from));
    });
    expect((await received(importOf(url))).equals(FILE)).toBe(true);
    expect(server.requestsFor(url).map(({ range }) => range)).toEqual([
      undefined,
      `bytes=${HALF}-`,
      `bytes=${HALF + 10}-`,
    ]);
  });

  test('continues after several failed tries', async () => {
    const url = server.serve((res, req, nth) => {
      if (nth === 1) return half()(res, req, nth);
      if (nth < 4) return void res.writeHead(503).end();
      return rest()(res, req, nth);
    });
    await received(importOf(url));
    expect(server.requestsFor(url)).toHaveLength(4);
  });

  test('fails after five tries in all', async () => {
    const url = server.serve(halfThen((res) => void res.writeHead(500).end()));
    expect(await ended(importOf(url))).toMatchObject({ failure: 'import_server_failed', tries: 5 });
    expect(server.requestsFor(url)).toHaveLength(5);
  });

  test.each<[string, string, RespondTo, Record<string, string>]>([
    ['import_incomplete', 'a weak ETag', rest(), { ETag: 'W/"v1"' }],
    [
      'import_incomplete',
      'a Last-Modified that is too young',
      rest(),
      { ...OLD, Date: OLD['Last-Modified'] },
    ],
    [
      'import_incomplete',
      'a server without ranges',
      (res) => void res.writeHead(200, { ETag: STRONG }).end(FILE),
      { ETag: STRONG },
    ],
  ])(
    '%s: the next try begins at the first byte, without counting as a change: %s',
    async (code, _, respond, headers) => {
      const end = await ended(importFrom(halfThen(respond, headers)));
      expect(end).toMatchObject({ failure: code, retryInSeconds: 0, startedOver: false });
    },
  );

  test('starts over more than once if it has not changed, up to five tries in all', async () => {
    const withoutRanges = halfThen((res) => void res.writeHead(200, { ETag: STRONG }).end(FILE));
    const [third, fifth] = await Promise.all([
      // After a start-over because of a change.
      ended(importFrom(withoutRanges, { tries: 1, startedOver: true })),
      ended(importFrom(withoutRanges, { tries: 3 })),
    ]);
    expect(third).toMatchObject({ failure: 'import_incomplete', tries: 3, retryInSeconds: 0 });
    expect(fifth).toMatchObject({ failure: 'import_incomplete', tries: 5, retryInSeconds: null });
  });

  test.each<[string, RespondTo]>([
    ['another ETag', rest({ ETag: '"v2"' })],
    ['an empty ETag', rest({ ETag: '' })],
    ['no ETag', (res) => void res.writeHead(206, RANGE).end(FILE.subarray(HALF))],
    ['another size', rest({ 'Content-Range': `bytes ${HALF}-${FILE.byteLength}/${FILE.byteLength + 1}` })],
    ['416', (res) => void res.writeHead(416).end()],
    ['200 with another ETag', (res) => void res.writeHead(200, { ETag: '"v2"' }).end(FILE)],
    ['200 without an ETag', (res) => void res.writeHead(200).end(FILE)],
  ])('import_changed: starts over once with %s', async (_, respond) => {
    const [first, second] = await Promise.all([
      ended(importFrom(halfThen(respond))),
      ended(importFrom(halfThen(respond), { startedOver: true })),
    ]);
    expect(first).toMatchObject({ failure: 'import_changed', retryInSeconds: 0, startedOver: true });
    expect(second).toMatchObject({ failure: 'import_changed', retryInSeconds: null });
  });

  test.each<[string, RespondTo]>([
    ['another start', rest({ 'Content-Range': `bytes 0-${FILE.byteLength - 1}/${FILE.byteLength}` })],
    ['another end', rest({ 'Content-Range': `bytes ${HALF}-${HALF}/${FILE.byteLength}` })],
    ['an unknown size', rest({ 'Content-Range': `bytes ${HALF}-${FILE.byteLength - 1}/*` })],
    ['no Content-Range', (res) => void res.writeHead(206, { ETag: STRONG }).end(FILE.subarray(HALF))],
  ])('import_server_failed: 206 with %s', async (_, respond) => {
    expect(await ended(importFrom(halfThen(respond)))).toMatchObject({
      failure: 'import_server_failed',
      tries: 5,
    });
  });

  test('import_encoded: 206 with gzip', async () => {
    const end = await ended(importFrom(halfThen(rest({ 'Content-Encoding': 'gzip' }))));
    expect(end).toMatchObject({ failure: 'import_encoded', retryInSeconds: null });
  });
});

describe('the engine', () => {
  const running = new Set<TestEngine>();
  afterEach(() => Promise.all([...running].map(stop)));

  /** Stops an engine before the end of the test. */
  function stop(engine: TestEngine): Promise<void> {
    running.delete(engine);
    return engine.stop();
  }

  /** An engine of its own, which stops after the test, and the end of a try of one of its imports. */
  async function startEngine({
    objects = {},
    ...imports
  }: { objects?: Partial<ObjectStore> } & Partial<ImportSettings> = {}) {
    const own = await startTestEngine({
      env: { ...ONLY_RECEIVES, IMPORT_ALLOW_CIDRS: '127.0.0.0/8', UPLOAD_DRAIN_SECONDS: '0' },
      limits: { idleSeconds: 1, minBytesPerSecond: 0, recentSeconds: 1 },
      imports: { pollSeconds: 0.02, pauseSeconds: [0, 0, 0, 0], ...imports },
      wrapObjects: (store) => withFaults(store, objects),
    });
    running.add(own);
    const endOf = ({ videoId }: ClaimedImport) =>
      until(async () => own.controlPlane.endedTries.find((each) => each.videoId === videoId));
    const completionOf = ({ videoId }: ClaimedImport) =>
      until(async () => own.controlPlane.completions.find((each) => each.videoId === videoId));
    return { own, controlPlane: own.controlPlane, endOf, completionOf };
  }

  test('reports that an import can be retried after a storage failure, and releases its import when it stops', async () => {
    const stored: unknown[] = [];
    const objects: Partial<ObjectStore> = {
      putStream: async (_key, body, options) => {
        stored.push(options);
        body.destroy();
        throw new Error('The store is unavailable');
      },
    };
    const { own, controlPlane, endOf } = await startEngine({ objects });
    const failed = controlPlane.import(server.serve(wholeFile));
    expect(await endOf(failed)).toMatchObject({ failure: 'storage_failed', tries: 1, retryInSeconds: 0 });
    expect(stored).toMatchObject([{ contentType: 'application/octet-stream', ifAbsent: true }]);
    delete objects.putStream;
    const url = server.serve((res) => void res.writeHead(200).write('a'));
    const held = controlPlane.import(url);
    await until(async () => server.requestsFor(url).length > 0);
    const stopped = stop(own);
    expect(await endOf(held)).toMatchObject({ failure: null, tries: 0, retryInSeconds: 0 });
    await stopped;
  });

  test('removes a file that the store does not hold completely', async () => {
    const { own, controlPlane, endOf } = await startEngine({ objects: { head: async () => null } });
    const failed = controlPlane.import(server.serve(wholeFile));
    expect(await endOf(failed)).toMatchObject({ failure: 'storage_failed', tries: 1, retryInSeconds: 0 });
    expect(await own.storedFiles()).toEqual([]);
  });

  test('does not blame the server while the store accepts no bytes', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const objects: Partial<ObjectStore> = {};
    const { own, controlPlane, completionOf } = await startEngine({ objects });
    objects.putStream = (key, body, options) => {
      async function* slowly() {
        for await (const chunk of body) {
          yield chunk;
          await gate;
        }
      }
      return own.objects.putStream(key, Readable.from(slowly()), options);
    };
    const claimed = controlPlane.import(server.serve(wholeFile), { leaseSeconds: 1 });
    // Six reports take longer than the idle timeout.
    const reports = () => controlPlane.requests.filter((path) => path === INTERNAL_PATHS.importProgress);
    await until(async () => reports().length >= 6).finally(open);
    expect(await completionOf(claimed)).toMatchObject({ bytes: FILE.byteLength });
  });

  test('fetches as many files at once as it may, and reports nothing about one that has ended', async () => {
    const { controlPlane, completionOf } = await startEngine({ maxConcurrent: 1 });
    const holding = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const url = server.serve((res) => {
        res.writeHead(200, { 'Transfer-Encoding': 'chunked' });
        const timer = setInterval(() => res.write('a'), 20);
        void promise.then(() => {
          clearInterval(timer);
          res.end();
        });
      });
      return { url, release: resolve, claimed: controlPlane.import(url, { leaseSeconds: 1 }) };
    };
    const [first, second] = [holding(), holding()];
    const { importProgress } = controlPlane;
    await until(async () => importProgress.get(first.claimed.transferId));
    expect(server.requestsFor(second.url)).toEqual([]);
    first.release();
    await completionOf(first.claimed);
    const firstReport = await until(async () => importProgress.get(second.claimed.transferId));
    const lastOfFirst = importProgress.get(first.claimed.transferId);
    await until(async () => importProgress.get(second.claimed.transferId) !== firstReport);
    expect(importProgress.get(first.claimed.transferId)).toBe(lastOfFirst);
    second.release();
    await completionOf(second.claimed);
  });

  test('hands a slow import back when one of another workspace waits and no slot is free', async () => {
    const { own, controlPlane, endOf, completionOf } = await startEngine({ maxConcurrent: 1 });
    const slowly = server.serve((res) => {
      res.writeHead(200, { 'Transfer-Encoding': 'chunked' });
      const timer = setInterval(() => res.write('a'), 20);
      res.once('close', () => clearInterval(timer));
    });
    const slow = controlPlane.import(slowly);
    await until(async () => server.requestsFor(slowly).length > 0);
    const waiting = controlPlane.import(server.serve(wholeFile), { workspaceId: newId('ws') });
    expect(await endOf(slow)).toMatchObject({ failure: null, tries: 0, retryInSeconds: 0 });
    await completionOf(waiting);
    expect((await own.storedFiles()).filter((path) => path.includes(slow.transferId))).toEqual([]);
  });

  test('gets an import whose claim had no response, because it repeats the claim', async () => {
    const { controlPlane, completionOf } = await startEngine();
    controlPlane.losesClaims = 2;
    const claimed = controlPlane.import(server.serve(wholeFile));
    await completionOf(claimed);
    expect(controlPlane.losesClaims).toBe(0);
  });

  test('reports when the next try begins', async () => {
    const { controlPlane } = await startEngine({ pauseSeconds: [30] });
    const claimed = controlPlane.import(server.serve(half()), { leaseSeconds: 1 });
    const waiting = await until(async () => {
      const progress = controlPlane.importProgress.get(claimed.transferId);
      return progress?.failure ? progress : undefined;
    });
    expect(waiting).toMatchObject({ bytes: HALF, tries: 1, failure: 'import_incomplete' });
    expect(waiting.nextTryInSeconds).toBeGreaterThan(20);
    expect(waiting.nextTryInSeconds).toBeLessThanOrEqual(30);
  });

  test('reports the progress of a file without a response yet', async () => {
    const { controlPlane } = await startEngine();
    const claimed = controlPlane.import(
      server.serve(() => {}),
      { leaseSeconds: 1 },
    );
    const progress = await until(async () => controlPlane.importProgress.get(claimed.transferId));
    expect(progress).toMatchObject({ bytes: 0, totalBytes: null, nextTryInSeconds: null });
  });

  test('leaves no timers of imports that have ended', async () => {
    const { controlPlane, completionOf, endOf } = await startEngine();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let count = 0; count < 5; count += 1) {
      await completionOf(controlPlane.import(server.serve(wholeFile)));
      await endOf(controlPlane.import(server.serve((res) => void res.writeHead(404).end())));
    }
    await until(async () => timers() <= before);
  });

  test('stops without waiting for the next poll', async () => {
    const { own } = await startEngine({ pollSeconds: 3600 });
    await stop(own);
  });
});
