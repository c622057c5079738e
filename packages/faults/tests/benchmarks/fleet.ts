/**
 * The gain of a second engine: `pnpm bench:fleet [--videos=2] [--minutes=0] [--rounds=5]`. A cluster of processes transcodes
 * `videos` videos per engine, or with `minutes` one video of that duration, in pieces. Each round measures one engine on the first
 * processor, two engines on both processors, and one engine on the second processor. With `minutes`, it also measures one engine on the
 * first processor that transcodes the video as a whole. An engine and its child processes are pinned to one processor. The processors of a
 * shared machine differ, so a round compares two engines with the mean of the two single ones. Each round also measures ffmpeg without an
 * engine in the same way: the gain that the second processor allows. Prints medians of the rounds, as a table and as JSON.
 *
 * Everything else runs on the same processors: control plane, PostgreSQL, RabbitMQ, and this program with its fake object
 * store. The videos and the preset make ffmpeg nearly all of the work.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { upload } from '@framelane/client/node';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { until } from '@framelane/test-kit/until';
import { cachedAvi, cachedMp4 } from '../../src/clips.ts';
import { Cluster } from '../../src/cluster.ts';
import { logged } from '../../src/logged.ts';
import type { ServiceProcess } from '../../src/service-process.ts';

const run = promisify(execFile);

/** Times in /proc are in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const TIMEOUT_SECONDS = 3600;

type Run = {
  /** Videos per minute, from the first claim to the last result. */
  perMinute: number;
  /** The sum of each engine's videos per minute, from its own first claim to its own last result. It excludes idle time. */
  whileBusy: number;
  /** CPU seconds of the engines and their child processes, per video. */
  cpuSecondsEach: number;
  /** Clips per minute that ffmpeg alone encodes on the same processors. */
  bare: number;
};
type Attempt = { video_id: string; started_at: Date; finished_at: Date };
/** `pieces`: the time of one engine for a video in pieces, as a multiple of that as a whole. */
type Round = { one: Run; two: Run; pieces?: number };

const { values: options } = parseArgs({
  options: {
    videos: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '5' },
  },
});
const seconds = 60 * Number(options.minutes);
const isLong = seconds > 0;
if (availableParallelism() < 2) throw new Error('Two engines need two processors');

// A small file that takes long to encode: an upload costs this program more than an engine.
const clip = isLong
  ? await cachedMp4({ size: '1280x720', seconds, quality: 20 })
  : await cachedAvi({ size: '1280x720', seconds: 30, quality: 20 });
const cluster = await Cluster.start({
  controlPlanes: 1,
  engines: 2,
  innerProxies: false,
  env: {
    ENGINE_PRESET: 'medium',
    PIECE_SECONDS: '20',
    // bubblewrap hides the CPU times of its child processes.
    ENGINE_SANDBOX: 'none',
  },
  // Long leases, because the benchmark keeps the machine busy. The intervals are those of production.
  timing: { taskLease: 60, uploadLease: 60, maintenance: 15, usageFlush: 5 },
});
try {
  const rounds: Round[] = [];
  while (rounds.length < Number(options.rounds)) {
    const first = await measure([0]);
    const asWhole = isLong ? await measure([0], true) : undefined;
    const two = await measure([0, 1]);
    const second = await measure([1]);
    const one = mean(first, second);
    const pieces = asWhole && asWhole.perMinute / first.perMinute;
    rounds.push({ one, two, ...(pieces !== undefined && { pieces }) });
    process.stderr.write(`round ${rounds.length}: ${(two.perMinute / one.perMinute).toFixed(2)}\n`);
  }
  report(rounds);
} finally {
  await cluster.stop();
}

/** Transcodes with one engine per processor. */
async function measure(processors: readonly number[], asWhole = false): Promise<Run> {
  for (const engine of cluster.engines) await engine.end('SIGTERM');
  const engines = cluster.engines.slice(0, processors.length);
  for (const [index, engine] of engines.entries()) await startOn(processors[index] as number, engine);
  const before = await cpuSeconds(engines);
  const ids = await Promise.all(
    Array.from({ length: isLong ? 1 : engines.length * Number(options.videos) }, () => send(asWhole)),
  );
  await until(() => areReady(ids), { what: 'all videos ready', seconds: TIMEOUT_SECONDS });
  const busy = (await cpuSeconds(engines)) - before;
  const attempts = await cluster.postgres.query<Attempt>(
    `select video_id, started_at, finished_at from attempts where video_id = any($1) and outcome = 'completed'`,
    [ids],
  );
  const shares = engines.map((engine) => {
    const done = new Set(logged([engine], 'task.finished').map(({ videoId }) => videoId));
    return attempts.filter(({ video_id }) => done.has(video_id));
  });
  if (!isLong && shares.some((share) => share.length === 0))
    throw new Error('An engine got no video. Use a larger --videos');
  return {
    perMinute: perMinute(attempts),
    whileBusy: isLong ? perMinute(attempts) : sum(shares.map(perMinute)),
    cpuSecondsEach: busy / ids.length,
    bare: sum(await Promise.all(processors.map(bareRate))),
  };
}

async function send(asWhole: boolean): Promise<string> {
  const ticket = await cluster.api.ticket();
  if (asWhole)
    await cluster.postgres.query('update videos set as_a_whole = true where id = $1', [ticket.videoId]);
  await upload(clip, ticket);
  return ticket.videoId;
}

function mean(one: Run, other: Run): Run {
  return {
    perMinute: (one.perMinute + other.perMinute) / 2,
    whileBusy: (one.whileBusy + other.whileBusy) / 2,
    cpuSecondsEach: (one.cpuSecondsEach + other.cpuSecondsEach) / 2,
    bare: (one.bare + other.bare) / 2,
  };
}

/** Attempts per minute, from the first claim to the last result in the database. */
function perMinute(attempts: readonly Attempt[]): number {
  const first = Math.min(...attempts.map(({ started_at }) => started_at.getTime()));
  const last = Math.max(...attempts.map(({ finished_at }) => finished_at.getTime()));
  return (60_000 * attempts.length) / (last - first);
}

/** How many times per minute ffmpeg alone encodes the clip. */
async function bareRate(processor: number): Promise<number> {
  const startedAt = performance.now();
  const encode = ['-v', 'error', '-i', clip, '-c:v', 'libx264', '-preset', 'medium', '-f', 'null', '-'];
  await run('taskset', ['--cpu-list', String(processor), 'ffmpeg', ...encode]);
  return 60_000 / (performance.now() - startedAt);
}

/** Whether all videos are ready, by the received webhooks: polling would load the control plane. */
function areReady(ids: readonly string[]): boolean {
  const events = [...cluster.endpoint.events.values()].filter(({ videoId }) => ids.includes(videoId));
  const failed = events.find(({ type }) => type === 'video.failed');
  if (failed !== undefined) throw new Error(`${failed.videoId} failed`);
  return events.filter(({ type }) => type === 'video.ready').length === ids.length;
}

/** Starts an engine pinned to a processor. Its child processes inherit the pinning. */
async function startOn(processor: number, engine: ServiceProcess): Promise<void> {
  engine.launch(['taskset', '--cpu-list', String(processor)]);
  await engine.ready();
}

/** CPU seconds of the engines and of their ended child processes. */
async function cpuSeconds(engines: readonly ServiceProcess[]): Promise<number> {
  const stats = await Promise.all(engines.map(({ pid }) => readFile(`/proc/${pid}/stat`, 'utf8')));
  // Fields 14 to 17; the second field may contain spaces.
  const ticks = stats.flatMap((stat) =>
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15),
  );
  return sum(ticks.map(Number)) / TICKS_PER_SECOND;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function report(rounds: readonly Round[]): void {
  const middle = (value: (round: Round) => number) => median(rounds.map(value));
  const row = (value: (run: Run) => number) => ({
    one: middle(({ one }) => value(one)),
    two: middle(({ two }) => value(two)),
    ratio: middle(({ one, two }) => value(two) / value(one)),
  });
  const rows = {
    'videos/min': row(({ perMinute }) => perMinute),
    'videos/min while busy': row(({ whileBusy }) => whileBusy),
    'CPU s per video': row(({ cpuSecondsEach }) => cpuSecondsEach),
    'ffmpeg alone, runs/min': row(({ bare }) => bare),
  };
  print(line(['', 'one engine', 'two', 'ratio']));
  for (const [name, { one, two, ratio }] of Object.entries(rows)) {
    print(line([name, one.toFixed(2), two.toFixed(2), ratio.toFixed(2)]));
  }
  const pieces = rounds.flatMap((round) => round.pieces ?? []);
  if (pieces.length > 0) print(`time in pieces / time as a whole: ${median(pieces).toFixed(3)}`);
  print(JSON.stringify({ rounds, rows }));
}
