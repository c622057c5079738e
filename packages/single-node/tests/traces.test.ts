import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { makeClip } from '@framelane/test-kit/clips';
import { OtlpReceiver, type ReceivedSpan } from '@framelane/test-kit/otlp-receiver';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { TusClient } from '@framelane/test-kit/tus-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';

/** A `traceparent` of a client, with the same digit as trace and span. */
const traceparent = (digit: string, flags = '01') => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`;
const OF_CLIENT = 'a';
const OF_UPLOADER = 'b';
const UNSAMPLED = 'c';
const OF_STRANGER = 'd';
const OF_READER = 'e';

/** No attribute may contain them. The test adds those that the node makes. */
const secrets = ['collector-secret', 'hook-path', 'hook-query', 'signed-query', 'import-header'];
/** What clients call their files is no secret, but the collector is none of their business. */
const FILENAME = 'a-private-name.mp4';

type Ticket = { videoId: string; uploadUrl: string; tusUrl: string; uploadToken: string };
type Event = { type: string; headers: IncomingHttpHeaders; videoId: string };

let receiver: OtlpReceiver;
let node: SingleNodeProcess;
let dataDir: string;
let server: Server;
/** Deliveries of webhooks. The first one of a ready video fails. */
const events: Event[] = [];
const videoIds = { ready: '', imported: '', unsampled: '' };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'framelane-traces-'));
  receiver = await OtlpReceiver.start();
  server = createServer(async (req, res) => {
    if (req.url?.startsWith('/file')) return void res.end('no video');
    const { type, data } = JSON.parse((await buffer(req)).toString());
    const isRetry = events.some((event) => event.type === 'video.ready');
    events.push({ type, headers: req.headers, videoId: data.id });
    res.writeHead(type === 'video.ready' && !isRetry ? 500 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  node = await SingleNodeProcess.start(dataDir, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    IMPORT_ALLOW_CIDRS: '127.0.0.0/8',
  });
  await useNode(url);
  // Exports what remains.
  expect(await node.stop()).toEqual({ code: 0, signal: null });
}, 300_000);

afterAll(async () => {
  await node?.stop();
  server?.close();
  await receiver?.stop();
  await rm(dataDir, { recursive: true });
});

async function useNode(url: string): Promise<void> {
  const { secret } = await post<{ secret: string }>('/webhooks', {
    url: `${url}/hook-path?token=hook-query`,
    events: ['video.ready', 'video.failed'],
  });
  const ticket = await post<Ticket>('/videos/upload-ticket', { filename: FILENAME }, traceparent(OF_CLIENT));
  const unsampled = await post<Ticket>(
    '/videos/upload-ticket',
    { filename: FILENAME },
    traceparent(UNSAMPLED, '00'),
  );
  const { apiKey, consoleLink } = node;
  const { serviceSecret, contentKeySecret } = JSON.parse(
    await readFile(join(dataDir, 'secrets.json'), 'utf8'),
  );
  secrets.push(secret, apiKey, consoleLink, serviceSecret, contentKeySecret, FILENAME);
  secrets.push(ticket.uploadToken, unsampled.uploadToken);

  const clip = await makeClip(join(dataDir, 'clip.mp4'), { video: 'testsrc=size=160x90:duration=1' });
  const file = await readFile(clip);
  const tus = new TusClient(ticket.uploadToken);
  const path = await tus.create(node.engineUrl, file.byteLength);
  const uploader = { traceparent: traceparent(OF_UPLOADER) };
  const sent = await tus.patch(`${node.engineUrl}${path}`, file, 0, file.byteLength, uploader);
  expect(sent?.status).toBe(204);
  const form = new FormData();
  form.set('file', new Blob(['no video']), FILENAME);
  const { status } = await fetch(unsampled.uploadUrl, {
    method: 'POST',
    headers: { 'x-upload-token': unsampled.uploadToken, traceparent: traceparent(OF_STRANGER) },
    body: form,
  });
  expect(status).toBe(202);
  const imported = await post<{ id: string }>('/videos/import', {
    url: `${url}/file.mp4?signature=signed-query`,
    headers: { 'X-Source-Key': 'import-header' },
  });
  Object.assign(videoIds, {
    ready: ticket.videoId,
    unsampled: unsampled.videoId,
    imported: imported.id,
  });

  const eventsOf = (videoId: string) => events.filter((event) => event.videoId === videoId).length;
  const delivered = () =>
    eventsOf(videoIds.ready) === 2 && eventsOf(videoIds.unsampled) === 1 && eventsOf(videoIds.imported) === 1;
  await until(delivered, { what: 'all events are delivered', details: () => node.log });
  const stranger = { traceparent: traceparent(OF_STRANGER) };
  await fetch(`${node.baseUrl}/videos`, { headers: { ...stranger, authorization: 'Bearer svc_live_wrong' } });
  const { hls } = await get<{ hls: string }>(`/videos/${ticket.videoId}`);
  await fetch(`${node.baseUrl}/videos`, { headers: { ...headers(), traceparent: traceparent(OF_READER) } });
  expect((await fetch(hls, { headers: stranger })).status).toBe(200);
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${node.apiKey}`, 'x-svc-workspace': node.fact('Workspace') };
}

async function post<T>(path: string, body: object, parent?: string): Promise<T> {
  const response = await fetch(`${node.baseUrl}${path}`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json', ...(parent && { traceparent: parent }) },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as T;
}

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(`${node.baseUrl}${path}`, { headers: headers() })).json()) as T;
}

/** A span in a tree. */
function describeSpan({ resource, kind, name, isError }: ReceivedSpan): string {
  const service = String(resource['service.name']).replace('framelane-', '');
  return `${service} | ${kind} | ${name}${isError ? ' | failed' : ''}`;
}

/** The tree of a trace without the tools: how often which of them runs depends on the version of ffmpeg. */
function treeOf(traceId: string): string {
  const lines = receiver.tree(traceId, describeSpan).split('\n');
  return lines.filter((line) => !/ff(mpeg|probe)$/.test(line)).join('\n');
}

function spanOf(name: string, videoId: string): ReceivedSpan | undefined {
  return receiver.spans.find(
    (span) => span.name === name && span.attributes['framelane.video.id'] === videoId,
  );
}

test('one trace leads from the ticket over the upload and the tasks to the attempts of the webhook', () => {
  const traceId = OF_CLIENT.repeat(32);
  expect(treeOf(traceId)).toMatchInlineSnapshot(`
"control-plane | server | POST /v1/videos/upload-ticket
  engine | server | PATCH /files/:transferId
    engine | client | POST /internal/v1/upload-tickets/complete
      control-plane | server | POST /internal/v1/upload-tickets/complete
        control-plane | client | transaction
          control-plane | producer | send engine.commands
            engine | consumer | process engine.commands
              engine | client | POST /internal/v1/tasks/claim
                control-plane | server | POST /internal/v1/tasks/claim
                  control-plane | client | transaction
              engine | internal | task plan
                engine | internal | fetch
                engine | internal | probe
                engine | client | POST /internal/v1/plans/store
                  control-plane | server | POST /internal/v1/plans/store
                    control-plane | client | transaction
                engine | internal | encode
                engine | producer | send control-plane.events
                  control-plane | consumer | process control-plane.events
                    control-plane | client | transaction
                      control-plane | client | POST | failed
                      control-plane | client | POST"
`);
  const [first] = receiver.spans.filter((span) => span.name === 'POST /v1/videos/upload-ticket');
  expect(first).toMatchObject({ traceId, parentSpanId: OF_CLIENT.repeat(16) });
  // Exactly one span, the first one, has a parent that is not Framelane's.
  const spans = receiver.spans.filter((span) => span.traceId === traceId);
  const ids = spans.map(({ spanId }) => spanId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(spans.filter(({ parentSpanId }) => !ids.includes(parentSpanId))).toEqual([first]);
});

test('stages of a task have a span for each run of a tool', () => {
  const ofStage = (stage: string, tool: string) => {
    const [found] = receiver.spans.filter(
      ({ name, traceId }) => name === stage && traceId === OF_CLIENT.repeat(32),
    );
    return receiver.spans.filter(({ name, parentSpanId }) => name === tool && parentSpanId === found?.spanId);
  };
  for (const runs of [ofStage('probe', 'ffprobe'), ofStage('encode', 'ffmpeg')]) {
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.map(({ attributes }) => attributes['process.exit.code'])).toEqual(runs.map(() => 0));
  }
});

test('endpoints of webhooks can continue the trace', () => {
  const attempts = receiver.spans.filter(
    ({ name, attributes }) => name === 'POST' && attributes['framelane.event.type'] === 'video.ready',
  );
  expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([undefined, 1]);
  expect(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual(
    events.filter(({ type }) => type === 'video.ready').map((event) => event.headers.traceparent),
  );
});

test('requests that only read continue a trace, and begin none', () => {
  const reads = receiver.spans.filter(({ name }) => name.startsWith('GET'));
  expect(reads).toMatchObject([{ name: 'GET /v1/videos', traceId: OF_READER.repeat(32) }]);
});

test('who uploads only links their trace', () => {
  const upload = spanOf('PATCH /files/:transferId', videoIds.ready);
  expect(upload?.links).toEqual([{ traceId: OF_UPLOADER.repeat(32), spanId: OF_UPLOADER.repeat(16) }]);
});

test('clients with a key decide about sampling, and nobody else', () => {
  for (const digit of [OF_UPLOADER, UNSAMPLED, OF_STRANGER])
    expect(receiver.spans.filter(({ traceId }) => traceId === digit.repeat(32))).toEqual([]);
  const ofUnsampled = receiver.spans.filter(
    ({ attributes }) => attributes['framelane.video.id'] === videoIds.unsampled,
  );
  expect(ofUnsampled).toEqual([]);
});

test('an import is a part of the trace of its request, and a failure has a code', () => {
  const request = receiver.spans.find(({ name }) => name === 'POST /v1/videos/import');
  const { traceId, spanId } = request ?? {};
  expect(spanOf('import', videoIds.imported)).toMatchObject({ traceId, parentSpanId: spanId });
  const task = spanOf('task plan', videoIds.imported);
  expect(task).toMatchObject({ traceId, isError: true, attributes: { 'error.type': 'not_a_video' } });
});

test('attributes have the names of the conventions and contain no secret', () => {
  const names = new Set<unknown>(Object.values(conventions));
  const keys = new Set(
    receiver.spans.flatMap((span) => Object.keys({ ...span.attributes, ...span.resource })),
  );
  expect([...keys].filter((key) => !names.has(key) && !key.startsWith('framelane.'))).toEqual([]);
  expect(secrets.filter((secret) => secret.length < 8)).toEqual([]);
  expect(secrets.filter((secret) => receiver.bodies.some((body) => body.includes(secret)))).toEqual([]);
  expect(receiver.spans.filter(({ events, statusMessage }) => events > 0 || statusMessage !== '')).toEqual(
    [],
  );
});

test('spans name their service, and the exporter uses the settings of OpenTelemetry', () => {
  const services = new Set(receiver.spans.map(({ resource }) => resource['service.name']));
  expect([...services].sort()).toEqual(['framelane-control-plane', 'framelane-engine']);
  expect(receiver.spans[0]?.resource).toMatchObject({ 'deployment.environment.name': 'test' });
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer collector-secret');
});

test('log lines name their trace', () => {
  const lines = node.log.split('\n').filter((line) => line.startsWith('{'));
  const logged = lines.map((line) => JSON.parse(line)).filter(({ videoId }) => videoId === videoIds.ready);
  const untraced = logged.filter((event) => event.trace_id !== OF_CLIENT.repeat(32));
  // The renewals of leases are in no trace, and the upload is opened before its span begins.
  const outside = ['upload.opened', 'video.progress', 'video.preview_offered'];
  expect(untraced.map(({ message }) => message).filter((message) => !outside.includes(message))).toEqual([]);
  const task = logged.find(({ message }) => message === 'task.started');
  expect(task.span_id).toBe(spanOf('task plan', videoIds.ready)?.spanId);
});
