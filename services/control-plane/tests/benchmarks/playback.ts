/**
 * Measures what a segment costs in each way to serve it: `pnpm bench:playback [--rounds=5] [--requests=3000] [--clients=500] [--ways=memory,gateway]`. Each way is
 * compared with the plain one: a control plane that reads each segment from S3 and keeps none. The benchmark also
 * measures memory and the latency of the API while many clients are slow.
 *
 * All servers, the load generators and PostgreSQL are separate processes on loopback. The servers take turns, and ratios are
 * per round. S3_TEST_ENDPOINT names another S3 server than that of the tests.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { segmentKey } from '@framelane/object-store/object-keys';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readS3Settings } from '@framelane/service-kit/connection-settings';
import { createLogger } from '@framelane/service-kit/logger';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { freePorts } from '@framelane/test-kit/free-ports';
import { Gateway, gatewayObstacle } from '@framelane/test-kit/gateway';
import { Nginx, temporaryPaths } from '@framelane/test-kit/nginx';
import { until } from '@framelane/test-kit/until';
import { sql } from 'kysely';
import { openDatabase, openMigrationPool } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { FOLDER } from '../support/manifest.ts';
import { Contestant } from './support/contestant.ts';
import { API_KEY, startFramelane, WORKSPACE } from './support/framelane.ts';
import { startGenerator } from './support/generator.ts';
import type { Load, Task } from './support/load-generator.ts';
import type { SegmentLoad, SegmentTask } from './support/segment-load.ts';

const VIDEO = 'vid_01kannnnnnfz0rzzzzzz000001';
const SEGMENTS = 64;
const SEGMENT_BYTES = 350_000;
const CONNECTIONS = 16;
const HLS = `/v1/hls/${WORKSPACE}/${VIDEO}/360p`;

/** The ways to serve a segment. `plain` is what the others are compared with. */
const WAYS = ['plain', 'memory', 'gateway', 'cdn', 'redirect'] as const;
type Way = (typeof WAYS)[number];

const NAMES: Record<Way, string> = {
  plain: 'control plane, from S3',
  memory: 'memory',
  gateway: 'gateway',
  cdn: 'CDN',
  redirect: 'redirect to S3',
};

/** Where players send their requests, and the control plane behind it. */
type Server = { port: number; paths: string[]; controlPlane: Contestant };

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '3000' },
    clients: { type: 'string', default: '500' },
    ways: { type: 'string', default: WAYS.join() },
  },
});

const obstacle = gatewayObstacle();
if (obstacle !== null) throw new Error(`The benchmark cannot run: ${obstacle}`);

const database = await createTestDatabase();
const files = await mkdtemp(join(tmpdir(), 'bench-delivery-'));
const segmentLoad = startGenerator<SegmentTask, SegmentLoad>('segment-load.ts');
const apiLoad = startGenerator<Task, Load>('load-generator.ts');
const stops: (() => Promise<unknown>)[] = [];
try {
  const s3 = await openBucket();
  const control = await startFramelane(database.url, { OBJECTS: files });
  stops.push(() => control.stop());
  await fill(s3);
  await compareWays(s3);
  await measureSlowClients(control);
} finally {
  segmentLoad.stop();
  apiLoad.stop();
  for (const stop of stops.reverse()) await stop();
  await rm(files, { recursive: true });
  await database.drop();
}

/** The settings of a new bucket, on the S3 server of the tests or on that of S3_TEST_ENDPOINT. */
async function openBucket(): Promise<Record<string, string>> {
  const { S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY } = process.env;
  const settings = { S3_BUCKET: `framelane-${randomUUID()}`, S3_REGION: 'us-east-1' };
  if (S3_TEST_ENDPOINT) {
    const accessKeyId = S3_TEST_ACCESS_KEY_ID ?? '';
    const secretAccessKey = S3_TEST_SECRET_ACCESS_KEY ?? '';
    const client = new S3Client({
      endpoint: S3_TEST_ENDPOINT,
      region: settings.S3_REGION,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    await client.send(new CreateBucketCommand({ Bucket: settings.S3_BUCKET }));
    client.destroy();
    return {
      ...settings,
      S3_ENDPOINT: S3_TEST_ENDPOINT,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }
  const server = await Contestant.start('s3-server.ts', {});
  stops.push(() => server.stop());
  return {
    ...settings,
    S3_BUCKET: 'bucket',
    S3_ENDPOINT: server.url,
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
  };
}

/** A ready video, with its segments as files and in S3. */
async function fill(s3: Record<string, string>): Promise<void> {
  const db = openDatabase(
    openMigrationPool(database.url, createLogger({ service: 'benchmark', level: 'error' })),
  );
  await sql`
    insert into videos (id, workspace_id, environment, status, title, filename, content_key, variants, target_duration,
      start_timestamp, attempt, duration, width, height, frame_rate, size)
    values (${VIDEO}, ${WORKSPACE}, 'live', 'ready', 'Holiday', 'holiday.mp4', 'sealed', '{360p}', 6, 0, 1, 384, 640, 360, 25,
      1000000)`.execute(db);
  await sql`
    insert into renditions (video_id, name, codecs, width, height, frame_rate, bandwidth, average_bandwidth,
      segment_durations, segment_bytes)
    values (${VIDEO}, '360p', 'avc1.64001e', 640, 360, 25, 700000, 670000, ${Array(SEGMENTS).fill(6)},
      ${Array(SEGMENTS).fill(SEGMENT_BYTES)})`.execute(db);
  await sql`
    insert into artifacts (video_id, kind, name, attempt, folder, bytes)
    values (${VIDEO}, 'segments', '360p', 1, 't0.1/', ${SEGMENTS * SEGMENT_BYTES})`.execute(db);
  await sql`vacuum analyze`.execute(db);
  await db.destroy();
  const store = new S3ObjectStore(readS3Settings(s3));
  for (let sequence = 0; sequence < SEGMENTS; sequence += 1) {
    const content = randomBytes(SEGMENT_BYTES);
    const path = join(files, keyOf(sequence));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await store.put(keyOf(sequence), content, 'video/mp2t');
  }
  store.close();
}

function keyOf(sequence: number): string {
  return segmentKey(
    { workspaceId: WORKSPACE, videoId: VIDEO, attempt: 1, folder: FOLDER },
    '360p',
    sequence,
    'ts',
  );
}

/** The nginx that docs/playback.md describes, in the place of a CDN. */
async function startCdn(port: number, controlPlane: Contestant): Promise<void> {
  const guide = await readFile(join(import.meta.dirname, '../../../../docs/playback.md'), 'utf8');
  const [, documented = ''] = /```nginx\n([\s\S]+?)```/.exec(guide) ?? [];
  const nginx = await Nginx.start(port, (folder) => {
    const server = documented
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replace('/var/cache/nginx/framelane', `${folder}/segments`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${portOf(controlPlane)}`);
    return `
      worker_processes 1;
      pid ${folder}/pid;
      events { worker_connections 2048; }
      http {
        ${temporaryPaths(folder)}
        sendfile on;
        keepalive_requests 1000000;
        ${server}
      }`;
  });
  stops.push(() => nginx.stop());
}

/** Starts the servers of every way, each with a control plane of its own. */
async function startWays(s3: Record<string, string>): Promise<Record<Way, Server>> {
  const paths = Array.from({ length: SEGMENTS }, (_, sequence) => `${HLS}/${sequence}.ts`);
  const start = async (env: Record<string, string>): Promise<Server> => {
    const controlPlane = await startFramelane(database.url, { ...s3, SEGMENT_CACHE_MIB: '0', ...env });
    stops.push(() => controlPlane.stop());
    return { port: portOf(controlPlane), paths, controlPlane };
  };
  const behindGateway = await start({});
  const gateway = await Gateway.start({ controlPlane: behindGateway.port, engines: [behindGateway.port] });
  stops.push(() => gateway.stop());
  const [cdnPort = 0] = await freePorts(1);
  const behindCdn = await start({ CDN_BASE_URL: `http://127.0.0.1:${cdnPort}` });
  await startCdn(cdnPort, behindCdn.controlPlane);
  return {
    plain: await start({}),
    memory: await start({ SEGMENT_CACHE_MIB: '128' }),
    gateway: { ...behindGateway, port: gateway.api },
    cdn: { ...behindCdn, port: cdnPort, paths: await segmentsOf(behindCdn.port) },
    redirect: await start({ SEGMENT_SERVING: 'redirect' }),
  };
}

/** The paths of the segments, as the media playlist names them. */
async function segmentsOf(port: number): Promise<string[]> {
  const playlist = await (await fetch(`http://127.0.0.1:${port}${HLS}/index.m3u8`)).text();
  const urls = playlist.split('\n').filter((line) => line.endsWith('.ts'));
  if (urls.length !== SEGMENTS) throw new Error(`Not the playlist of the video: ${playlist}`);
  return urls.map((url) => new URL(url).pathname);
}

/** The load, and the processor time of the control plane for a segment, in microseconds. */
type Served = SegmentLoad & { controlPlaneMicros: number };

/** Measures the ways in turns with the same segments. */
async function compareWays(s3: Record<string, string>): Promise<void> {
  const servers = await startWays(s3);
  const amount = Number(options.requests);
  const shoot = async (way: Way): Promise<Served> => {
    const { port, paths, controlPlane } = servers[way];
    const before = await controlPlane.cpuMicros();
    const load = await segmentLoad.shoot({ port, paths, connections: CONNECTIONS, amount });
    return { ...load, controlPlaneMicros: ((await controlPlane.cpuMicros()) - before) / amount };
  };
  const chosen = WAYS.filter((way) => way === 'plain' || options.ways.split(',').includes(way));
  const rounds: Record<Way, Served>[] = [];
  // The first round warms up.
  for (let round = 0; round <= Number(options.rounds); round += 1) {
    const results: [Way, Served][] = [];
    for (const way of chosen) results.push([way, await shoot(way)]);
    if (round > 0) rounds.push(Object.fromEntries(results) as Record<Way, Served>);
  }
  print(line(['', 'segments/s', 'MB/s', 'ratio', 'CPU ms/MB', 'ratio']));
  for (const way of chosen) {
    const middle = (value: (round: Record<Way, Served>) => number) => median(rounds.map(value));
    print(
      line([
        NAMES[way],
        middle((round) => round[way].perSecond).toFixed(0),
        middle((round) => round[way].bytesPerSecond / 1e6).toFixed(0),
        middle((round) => round[way].perSecond / round.plain.perSecond).toFixed(2),
        middle((round) => round[way].controlPlaneMicros / (SEGMENT_BYTES / 1000)).toFixed(2),
        middle((round) => round[way].controlPlaneMicros / round.plain.controlPlaneMicros).toFixed(2),
      ]),
    );
  }
  print(JSON.stringify(rounds));
}

function portOf({ url }: Contestant): number {
  return Number(new URL(url).port);
}

/** Memory, and the latency of `GET video`, before and while clients receive segments slowly. */
async function measureSlowClients(control: Contestant): Promise<void> {
  const video: Task = {
    url: `${control.url}/v1/videos/${VIDEO}`,
    method: 'GET',
    headers: { authorization: `Bearer ${API_KEY}`, 'x-svc-workspace': WORKSPACE },
    connections: 4,
    amount: 4000,
  };
  await apiLoad.shoot(video);
  const memoryBefore = await control.memory();
  const idle = await apiLoad.shoot(video);
  const clients = Array.from({ length: Number(options.clients) }, (_, number) =>
    slowClient(portOf(control), `${HLS}/${number % SEGMENTS}.ts`),
  );
  await until(() => clients.every(({ received }) => received() > 0));
  const busy = await apiLoad.shoot(video);
  const memory = await control.memory();
  for (const { close } of clients) close();
  print('');
  print(line(['', 'memory MB', 'p50 ms', 'p99 ms']));
  const row = (name: string, bytes: number, { p50, p99 }: Load) =>
    print(line([name, (bytes / 1e6).toFixed(0), p50.toFixed(1), p99.toFixed(1)]));
  row('idle', memoryBefore, idle);
  row(`${clients.length} slow clients`, memory, busy);
  print(JSON.stringify({ memoryBefore, memory, idle, busy }));
}

/** Requests two segments, and receives at most 64 kB of them per second. */
function slowClient(port: number, path: string): { received: () => number; close: () => void } {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  const request = `GET ${path} HTTP/1.1\r\nHost: framelane.test\r\n\r\n`;
  socket.pause();
  socket.write(request.repeat(2));
  const timer = setInterval(() => socket.read(), 1000);
  socket.on('error', () => {});
  return {
    received: () => socket.bytesRead,
    close: () => {
      clearInterval(timer);
      socket.destroy();
    },
  };
}
