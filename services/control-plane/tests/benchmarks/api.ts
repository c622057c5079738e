import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLogger } from '@framelane/service-kit/logger';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { sql } from 'kysely';
import { openDatabase, openMigrationPool } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { Contestant } from './support/contestant.ts';
import { API_KEY, startFramelane, WORKSPACE } from './support/framelane.ts';
import { startGenerator } from './support/generator.ts';
import type { Load, Task } from './support/load-generator.ts';
import { storeSegment } from './support/stored-segment.ts';

const VIDEOS = 1_000;
const VIDEO = 'vid_01kannnnnnfz0rzzzzzz000500';
const SEGMENT_BYTES = 500_000;
/** Warm-up rounds. */
const WARM_UPS = 2;

/**
 * `share` is the fraction of the requests that suffices to measure this case. A `repeated` request sends the current ETag
 * in `If-None-Match`.
 */
type Request = Pick<Task, 'method' | 'body'> & {
  name: string;
  path: string;
  share?: number;
  repeated?: boolean;
};

const REQUESTS: Request[] = [
  { name: 'GET video', method: 'GET', path: `/v1/videos/${VIDEO}` },
  { name: 'GET video, unchanged', method: 'GET', path: `/v1/videos/${VIDEO}`, repeated: true },
  { name: 'list of 25', method: 'GET', path: '/v1/videos' },
  { name: 'list of 25, unchanged', method: 'GET', path: '/v1/videos', repeated: true },
  {
    name: 'ticket',
    method: 'POST',
    path: '/v1/videos/upload-ticket',
    body: JSON.stringify({ filename: 'holiday.mp4' }),
  },
  { name: 'master playlist', method: 'GET', path: `/v1/hls/${WORKSPACE}/${VIDEO}/master.m3u8` },
  {
    name: 'segment of 500 kB',
    method: 'GET',
    path: `/v1/hls/${WORKSPACE}/${VIDEO}/360p/0.ts`,
    share: 0.1,
  },
];

type Measured = Load & { cpuMicros: number };
type Round = { ours: Measured; bare: Measured };

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '4000' },
    connections: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
});

const database = await createTestDatabase();
const objects = await mkdtemp(join(tmpdir(), 'bench-api-'));
const generator = startGenerator<Task, Load>('load-generator.ts');
const running: Contestant[] = [];
try {
  const ours = await startFramelane(database.url, { OBJECTS: objects });
  running.push(ours);
  await fill();
  const bare = await Contestant.start('bare-server.ts', { DATABASE_URL: database.url, OBJECTS: objects });
  running.push(bare);
  const results = [];
  for (const request of REQUESTS.filter(({ name }) => name.includes(options.only))) {
    results.push(summarise(request.name, await compare(request, { ours, bare })));
  }
  report(results);
} finally {
  generator.stop();
  await Promise.all(running.map((server) => server.stop()));
  await rm(objects, { recursive: true });
  await database.drop();
}

/** Videos that are ready, a second apart, one of them with a rendition and its first segment stored. */
async function fill(): Promise<void> {
  const db = openDatabase(
    openMigrationPool(database.url, createLogger({ service: 'benchmark', level: 'error' })),
  );
  await sql`
    insert into videos (id, workspace_id, environment, status, title, filename, content_key, variants, target_duration,
      start_timestamp, attempt, duration, width, height, frame_rate, size, created_at)
    select 'vid_01kannnnnnfz0rzzzzzz' || lpad(n::text, 6, '0'), ${WORKSPACE}, 'live', 'ready', 'Holiday ' || n,
      'holiday.mp4', 'sealed', '{360p}', 6, 0, 1, 20, 640, 360, 25, 1000000,
      '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => n)
    from generate_series(1, ${VIDEOS}::int) as n`.execute(db);
  await storeSegment(db, objects, { workspaceId: WORKSPACE, videoId: VIDEO, bytes: SEGMENT_BYTES });
  await sql`vacuum analyze`.execute(db);
  await db.destroy();
}

async function compare(request: Request, servers: Record<keyof Round, Contestant>): Promise<Round[]> {
  // Warms up compilers and connection pools.
  for (let time = 0; time < WARM_UPS; time += 1) {
    await measure(servers.ours, request);
    await measure(servers.bare, request);
  }
  const rounds: Round[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const oursFirst = round % 2 === 0;
    const first = await measure(oursFirst ? servers.ours : servers.bare, request);
    const second = await measure(oursFirst ? servers.bare : servers.ours, request);
    rounds.push(oursFirst ? { ours: first, bare: second } : { ours: second, bare: first });
  }
  return rounds;
}

async function measure(server: Contestant, request: Request): Promise<Measured> {
  const { path, method, body, share = 1, repeated = false } = request;
  const url = `${server.url}${path}`;
  const credentials = { authorization: `Bearer ${API_KEY}`, 'x-svc-workspace': WORKSPACE };
  const entityTag = repeated ? (await fetch(url, { headers: credentials })).headers.get('etag') : null;
  const before = await server.cpuMicros();
  const load = await generator.shoot({
    url,
    method,
    headers: {
      ...credentials,
      ...(entityTag !== null && { 'if-none-match': entityTag }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    connections: Number(options.connections),
    amount: Math.ceil(Number(options.requests) * share),
  });
  return { ...load, cpuMicros: ((await server.cpuMicros()) - before) / load.requests };
}

function summarise(name: string, rounds: readonly Round[]) {
  const middle = (value: (round: Round) => number) => median(rounds.map(value));
  const medians = (server: keyof Round) => ({
    perSecond: middle((round) => round[server].perSecond),
    p50: middle((round) => round[server].p50),
    p95: middle((round) => round[server].p95),
    p99: middle((round) => round[server].p99),
    cpuMicros: middle((round) => round[server].cpuMicros),
  });
  return {
    name,
    ours: medians('ours'),
    bare: medians('bare'),
    ratio: middle(({ ours, bare }) => ours.perSecond / bare.perSecond),
    cpuRatio: middle(({ ours, bare }) => bare.cpuMicros / ours.cpuMicros),
  };
}

function report(results: readonly ReturnType<typeof summarise>[]): void {
  print(line(['', 'requests/s', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU µs', 'ratio', 'CPU ratio']));
  for (const { name, ours, bare, ratio, cpuRatio } of results) {
    const figures = (measured: typeof ours) => [
      measured.perSecond.toFixed(0),
      ...[measured.p50, measured.p95, measured.p99].map((value) => value.toFixed(1)),
      measured.cpuMicros.toFixed(0),
    ];
    print(line([name, ...figures(ours), ratio.toFixed(2), cpuRatio.toFixed(2)]));
    print(line(['  bare', ...figures(bare)]));
  }
  print(JSON.stringify(results));
}
