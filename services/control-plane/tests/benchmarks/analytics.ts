import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLogger } from '@framelane/service-kit/logger';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { until } from '@framelane/test-kit/until';
import { sql } from 'kysely';
import { RollUpService } from '../../src/analytics/roll-up.service.ts';
import { type Database, openDatabase, openMigrationPool } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import type { Contestant } from './support/contestant.ts';
import { startFramelane, WORKSPACE } from './support/framelane.ts';
import { startGenerator } from './support/generator.ts';
import type { Load, Task } from './support/load-generator.ts';
import { storeSegment } from './support/stored-segment.ts';

const VIDEO = 'vid_01kannnnnnfz0rzzzzzz000500';
/** A segment of six seconds at 0.5 Mbit/s. Larger ones cost delivery more, and counting the same. */
const SEGMENT_BYTES = 350_000;
const CONNECTIONS = 10;
/** Longer than reports wait until they are stored. The idle control plane takes processor time, too, so every load waits for the same time. */
const PAUSE_MS = 7000;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '3000' },
    sessions: { type: 'string', default: '3000' },
  },
});
const requests = Number(options.requests);
const sessions = Number(options.sessions);

const database = await createTestDatabase();
const db = openDatabase(
  openMigrationPool(database.url, createLogger({ service: 'benchmark', level: 'error' })),
);
const objects = await mkdtemp(join(tmpdir(), 'bench-analytics-'));
const generator = startGenerator<Task, Load>('load-generator.ts');
let server: Contestant | undefined;
try {
  server = await startFramelane(database.url, { OBJECTS: objects });
  await fill();
  await until(
    async () =>
      (await sql`select from pg_inherits where inhparent = 'view_sessions'::regclass`.execute(db)).rows
        .length > 0,
  );
  await measureSegments(server);
  await measureBeacons(server);
  await server.stop();
  await measureRollUp();
} finally {
  generator.stop();
  await server?.stop();
  await db.destroy();
  await rm(objects, { recursive: true });
  await database.drop();
}

/** A ready video with one segment. */
async function fill(): Promise<void> {
  await sql`
    insert into videos (id, workspace_id, environment, status, title, filename, content_key, variants, target_duration,
      start_timestamp, attempt, duration, width, height, frame_rate, size)
    values (${VIDEO}, ${WORKSPACE}, 'live', 'ready', 'Holiday', 'holiday.mp4', 'sealed', '{360p}', 6, 0, 1, 6, 640, 360, 25, 1000000)`.execute(
    db,
  );
  await storeSegment(db, objects, { workspaceId: WORKSPACE, videoId: VIDEO, bytes: SEGMENT_BYTES });
}

async function measureSegments(to: Contestant): Promise<void> {
  const path = `/v1/hls/${WORKSPACE}/${VIDEO}/360p/0.ts`;
  const pathsOf = (round: number, query: (session: string) => string) =>
    Array.from({ length: sessions }, (_, index) => ({
      path: `${path}${query(`round-${round}-of-session-${index}`)}`,
    }));
  const client = (session: string) =>
    `?CMCD=${encodeURIComponent(`br=700,bl=12000,d=6000,mtp=25400,ot=v,sf=h,sid="${session}",st=v,tb=700`)}`;
  const other = (session: string) => `?OTHER=${client(session).slice('?CMCD='.length)}`;
  const rounds: { plain: number; counted: number; perSecond: number }[] = [];
  for (let round = -1; round < Number(options.rounds); round += 1) {
    const plain = await measure(to, { method: 'GET', requests: pathsOf(round, other) }, async () => {});
    const before = await storedSessions();
    const counted = await measure(to, { method: 'GET', requests: pathsOf(round, client) }, () =>
      until(async () => (await storedSessions()) - before >= Math.min(sessions, requests / CONNECTIONS)),
    );
    // The first round warms up.
    if (round >= 0) rounds.push({ plain: plain.cpu, counted: counted.cpu, perSecond: counted.perSecond });
  }
  const middle = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const share = middle(({ plain, counted }) => (counted - plain) / plain);
  print(line(['', 'requests/s', 'CPU µs', 'with CMCD', 'more']));
  const figures = [
    middle(({ perSecond }) => perSecond),
    middle(({ plain }) => plain),
    middle(({ counted }) => counted),
  ];
  print(
    line(['segment of 350 kB', ...figures.map((value) => value.toFixed(0)), `${(share * 100).toFixed(1)} %`]),
  );
}

async function measureBeacons(to: Contestant): Promise<void> {
  const before = await storedSessions();
  const body = {
    session: 'beacon-[<id>]',
    watched: [{ from: 0, to: 4, height: 360 }],
    watchSeconds: 4,
    startupSeconds: 0.4,
    stalls: 0,
    stallSeconds: 0,
  };
  const task = {
    method: 'POST' as const,
    requests: [{ path: `/v1/embed/${WORKSPACE}/${VIDEO}/beacons` }],
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    idReplacement: true,
  };
  const { cpu, perSecond } = await measure(to, task, () =>
    until(async () => (await storedSessions()) - before >= requests),
  );
  const stored = (await storedSessions()) - before;
  print(line(['beacons/s', 'CPU µs', 'sent', 'stored']));
  print(line([perSecond.toFixed(0), cpu.toFixed(0), String(requests), String(stored)]));
}

/** Sums up a day of a video that is far larger than what one statement reads. */
async function measureRollUp(): Promise<void> {
  const day = sql`(now() at time zone 'UTC')::date`;
  const playbacks = 400_000;
  await sql`
    insert into view_sessions (day, video_id, session_id, visitor, watched, watched_at_rungs, stalled, watch_ms, startup_ms, stalls, stall_ms, device)
    select ${day}, ${VIDEO}, md5('large day ' || n)::uuid, substring(decode(md5('viewer ' || n), 'hex') for 8),
      repeat('1', 100)::bit(100), repeat('1', 400)::bit(400), repeat('0', 100)::bit(100), 1000, 400, 0, 0, 'phone'
    from generate_series(1, ${sql.lit(playbacks)}) as n`.execute(db);
  await sql`insert into view_changes (video_id, day) values (${VIDEO}, ${day}) on conflict do nothing`.execute(
    db,
  );
  let slowest = 0;
  const timed = db.withPlugin({
    transformQuery: ({ node }) => {
      started = performance.now();
      return node;
    },
    transformResult: async ({ result }) => {
      slowest = Math.max(slowest, performance.now() - started);
      return result;
    },
  });
  let started = performance.now();
  const start = performance.now();
  await new RollUpService({ db: timed, retentionDays: 400 }).rollUp();
  const seconds = (performance.now() - start) / 1000;
  print(line(['playbacks of a day', 's', 'slowest statement, ms']));
  print(line([String(playbacks), seconds.toFixed(1), slowest.toFixed(0)]));
}

/** Sends a load, waits until all of it is stored, and resolves with the CPU time of a request in microseconds. */
async function measure(
  to: Contestant,
  task: Pick<Task, 'method' | 'body' | 'requests' | 'idReplacement'> & { headers?: Task['headers'] },
  isStored: () => Promise<unknown>,
): Promise<{ cpu: number; perSecond: number }> {
  const before = await to.cpuMicros();
  const load = await generator.shoot({
    headers: {},
    ...task,
    url: to.url,
    connections: CONNECTIONS,
    amount: requests,
  });
  await Promise.all([pause(PAUSE_MS), isStored()]);
  return { cpu: ((await to.cpuMicros()) - before) / load.requests, perSecond: load.perSecond };
}

async function storedSessions(of: Database = db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from view_sessions`.execute(of);
  return Number(rows[0]?.count);
}
