/**
 * Measures how fast segments reach players: `pnpm bench:playback [--rounds=5] [--requests=3000] [--clients=500]`. It compares the control
 * plane with nginx, which sends the same files. It compares the control plane's reads from S3 with those of the S3 SDK. It also
 * measures memory and the latency of the API while many clients are slow.
 *
 * All servers, the load generators and PostgreSQL are separate processes on loopback. The servers take turns, and ratios are
 * per round.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { segmentKey } from '@framelane/object-store/object-keys';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
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
const BUCKET = 'bucket';
const HLS = `/v1/hls/${WORKSPACE}/${VIDEO}/360p`;
const S3 = {
  S3_BUCKET: BUCKET,
  S3_REGION: 'us-east-1',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
};

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '3000' },
    clients: { type: 'string', default: '500' },
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
  const s3 = await run('s3-server.ts', {});
  const control = await startFramelane(database.url, { OBJECTS: files });
  stops.push(() => control.stop());
  await fill(s3.url);
  const [nginxPort = 0] = await freePorts(1);
  const nginx = await Nginx.start(nginxPort, (folder) => staticFiles(folder, nginxPort));
  stops.push(() => nginx.stop());
  const gateway = await Gateway.start({ controlPlane: portOf(control), engines: [portOf(control)] });
  stops.push(() => gateway.stop());
  // Without a cache, so each request reads its segment from S3.
  const fromS3 = await startFramelane(database.url, { ...S3, S3_ENDPOINT: s3.url, SEGMENT_CACHE_MIB: '0' });
  stops.push(() => fromS3.stop());
  const sdk = await run('sdk-reader.ts', { ...S3, S3_ENDPOINT: s3.url });

  await compareSegments({
    nginx: nginxPort,
    hot: portOf(control),
    gateway: gateway.api,
    bySdk: portOf(sdk),
    s3: portOf(fromS3),
  });
  await measureSlowClients(control);
} finally {
  segmentLoad.stop();
  apiLoad.stop();
  for (const stop of stops.reverse()) await stop();
  await rm(files, { recursive: true });
  await database.drop();
}

async function run(program: string, env: Record<string, string>): Promise<Contestant> {
  const contestant = await Contestant.start(program, env);
  stops.push(() => contestant.stop());
  return contestant;
}

/** A ready video, with its segments as files and in S3. */
async function fill(s3Url: string): Promise<void> {
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
  const store = new S3ObjectStore({
    endpoint: s3Url,
    region: S3.S3_REGION,
    bucket: BUCKET,
    accessKeyId: S3.S3_ACCESS_KEY_ID,
    secretAccessKey: S3.S3_SECRET_ACCESS_KEY,
    forcePathStyle: true,
  });
  for (let sequence = 0; sequence < SEGMENTS; sequence += 1) {
    const content = randomBytes(SEGMENT_BYTES);
    const path = join(files, keyOf(sequence));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await store.put(keyOf(sequence), content, 'video/mp2t');
  }
  store.close();
  // nginx serves the segments at the same paths as the control plane.
  await cp(dirname(join(files, keyOf(0))), join(files, HLS), { recursive: true });
}

function keyOf(sequence: number): string {
  return segmentKey({ workspaceId: WORKSPACE, videoId: VIDEO, attempt: 1, folder: FOLDER }, '360p', sequence);
}

function staticFiles(folder: string, port: number): string {
  return `
    worker_processes 1;
    pid ${folder}/pid;
    events { worker_connections 2048; }
    http {
      ${temporaryPaths(folder)}
      access_log off;
      sendfile on;
      tcp_nopush on;
      keepalive_requests 1000000;
      types { video/mp2t ts; }
      server { listen 127.0.0.1:${port}; root ${files}; }
    }`;
}

type Server = 'nginx' | 'hot' | 'gateway' | 'bySdk' | 's3';

/** Measures the servers in turns with the same segments. */
async function compareSegments(ports: Record<Server, number>): Promise<void> {
  const sequences = Array.from({ length: SEGMENTS }, (_, sequence) => sequence);
  const paths = sequences.map((sequence) => `${HLS}/${sequence}.ts`);
  const keys = sequences.map((sequence) => `/${keyOf(sequence)}`);
  const shoot = (server: Server) =>
    segmentLoad.shoot({
      port: ports[server],
      paths: server === 'bySdk' ? keys : paths,
      connections: CONNECTIONS,
      amount: Number(options.requests),
    });
  const rounds: Record<Server, SegmentLoad>[] = [];
  // The first round warms up.
  for (let round = 0; round <= Number(options.rounds); round += 1) {
    const result = {
      nginx: await shoot('nginx'),
      hot: await shoot('hot'),
      gateway: await shoot('gateway'),
      bySdk: await shoot('bySdk'),
      s3: await shoot('s3'),
    };
    if (round > 0) rounds.push(result);
  }
  const row = (name: string, which: Server, reference?: Server) => {
    const middle = (value: (round: Record<Server, SegmentLoad>) => number) => median(rounds.map(value));
    const figures = [
      middle((round) => round[which].perSecond).toFixed(0),
      middle((round) => round[which].bytesPerSecond / 1e6).toFixed(0),
      reference ? middle((round) => round[which].perSecond / round[reference].perSecond).toFixed(2) : '',
    ];
    print(line([name, ...figures]));
  };
  print(line(['', 'segments/s', 'MB/s', 'ratio']));
  row('nginx', 'nginx');
  row('control plane, hot', 'hot', 'nginx');
  row('gateway', 'gateway', 'nginx');
  row('SDK alone, from S3', 'bySdk');
  row('control plane, from S3', 's3', 'bySdk');
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
