/**
 * What a second engine brings: `pnpm bench:fleet [--videos=2] [--rounds=5]`. A cluster of processes transcodes `videos`
 * videos an engine: with one engine on one processor, with two on two, and with one on the other processor. An engine is
 * bound to its processor with all that it starts. A round compares two engines with the mean of one on either, as no two
 * processors of a machine that is shared are alike. In the same round an ffmpeg without any engine does so: it shows what
 * a second processor of this machine is worth. Medians of the rounds are printed, as a table and as JSON.
 *
 * Everything else runs on the same processors: control plane, PostgreSQL, RabbitMQ and this program, which plays the
 * object store. Videos and preset are such that ffmpeg is nearly all of the work.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { until } from '@framelane/test-kit/until';
import { line, median, print } from '../../../../infra/testing/benchmark-table.ts';
import { cachedAvi } from '../../src/clips.ts';
import { Cluster } from '../../src/cluster.ts';
import { logged } from '../../src/logged.ts';
import { query } from '../../src/query.ts';
import type { ServiceProcess } from '../../src/service-process.ts';

const run = promisify(execFile);

/** Times in /proc are in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const LIMIT_SECONDS = 3600;

type Run = {
  /** Videos, from the first claim to the last result of all. */
  perMinute: number;
  /** The same, with each engine in its own time: they end at different times, after which one has nothing to do. */
  whileBusy: number;
  /** Processor time of the engines and their ffmpeg. */
  cpuSecondsEach: number;
  /** How often ffmpeg alone encodes the clip on the same processors. */
  bare: number;
};
type Attempt = { video_id: string; started_at: Date; finished_at: Date };
type Round = { one: Run; two: Run };

const { values: options } = parseArgs({
  options: { videos: { type: 'string', default: '2' }, rounds: { type: 'string', default: '5' } },
});
if (availableParallelism() < 2) throw new Error('Two engines need two processors');

// Few bytes and much to encode: an upload costs this program more than an engine.
const clip = await cachedAvi({ size: '1280x720', seconds: 30, quality: 20 });
const cluster = await Cluster.start({
  controlPlanes: 1,
  engines: 2,
  innerDoors: false,
  env: {
    ENGINE_PRESET: 'medium',
    // Leases are for a machine that is kept busy on purpose.
    ATTEMPT_LEASE_SECONDS: '60',
    UPLOAD_LEASE_SECONDS: '60',
    // As often as they are in use, not as the fault suite has it.
    MAINTENANCE_SECONDS: undefined,
    USAGE_FLUSH_SECONDS: undefined,
    // bubblewrap does not hand on what its children took.
    ENGINE_SANDBOX: 'none',
  },
});
try {
  const rounds: Round[] = [];
  while (rounds.length < Number(options.rounds)) {
    const first = await measure([0]);
    const two = await measure([0, 1]);
    const second = await measure([1]);
    const one = mean(first, second);
    rounds.push({ one, two });
    process.stderr.write(`round ${rounds.length}: ${(two.perMinute / one.perMinute).toFixed(2)}\n`);
  }
  report(rounds);
} finally {
  await cluster.stop();
}

/** One engine for each of the processors. */
async function measure(processors: readonly number[]): Promise<Run> {
  for (const engine of cluster.engines) await engine.end('SIGTERM');
  const engines = cluster.engines.slice(0, processors.length);
  for (const [index, engine] of engines.entries()) await startOn(processors[index] as number, engine);
  const before = await cpuSeconds(engines);
  const ids = await Promise.all(
    Array.from({ length: engines.length * Number(options.videos) }, () => cluster.api.send(clip)),
  );
  await until(() => areReady(ids), { what: 'all videos are ready', seconds: LIMIT_SECONDS });
  const busy = (await cpuSeconds(engines)) - before;
  const attempts = await query<Attempt>(
    cluster,
    `select video_id, started_at, finished_at from attempts where video_id = any($1) and outcome = 'completed'`,
    [ids],
  );
  const shares = engines.map((engine) => {
    const done = new Set(logged([engine], 'transcode.completed').map(({ videoId }) => videoId));
    return attempts.filter(({ video_id }) => done.has(video_id));
  });
  if (shares.some((share) => share.length === 0)) throw new Error('An engine got no video; send more');
  return {
    perMinute: perMinute(attempts),
    whileBusy: sum(shares.map(perMinute)),
    cpuSecondsEach: busy / ids.length,
    bare: sum(await Promise.all(processors.map(bareRate))),
  };
}

function mean(one: Run, other: Run): Run {
  return {
    perMinute: (one.perMinute + other.perMinute) / 2,
    whileBusy: (one.whileBusy + other.whileBusy) / 2,
    cpuSecondsEach: (one.cpuSecondsEach + other.cpuSecondsEach) / 2,
    bare: (one.bare + other.bare) / 2,
  };
}

/** From the first claim to the last result, as the database has them. */
function perMinute(attempts: readonly Attempt[]): number {
  const first = Math.min(...attempts.map(({ started_at }) => started_at.getTime()));
  const last = Math.max(...attempts.map(({ finished_at }) => finished_at.getTime()));
  return (60_000 * attempts.length) / (last - first);
}

/** How many times a minute ffmpeg alone encodes the clip, as it is. */
async function bareRate(processor: number): Promise<number> {
  const begin = performance.now();
  const encode = ['-v', 'error', '-i', clip, '-c:v', 'libx264', '-preset', 'medium', '-f', 'null', '-'];
  await run('taskset', ['--cpu-list', String(processor), 'ffmpeg', ...encode]);
  return 60_000 / (performance.now() - begin);
}

/** As webhooks tell it, which costs the control plane less than to be asked. */
function areReady(ids: readonly string[]): boolean {
  const events = [...cluster.receiver.events.values()].filter(({ videoId }) => ids.includes(videoId));
  const failed = events.find(({ type }) => type === 'video.failed');
  if (failed !== undefined) throw new Error(`${failed.videoId} failed`);
  return events.filter(({ type }) => type === 'video.ready').length === ids.length;
}

/** What it starts later inherits the processor. */
async function startOn(processor: number, engine: ServiceProcess): Promise<void> {
  engine.launch(['taskset', '--cpu-list', String(processor)]);
  await engine.ready();
}

/** Of the engines and of whatever they started that has ended. */
async function cpuSeconds(engines: readonly ServiceProcess[]): Promise<number> {
  const stats = await Promise.all(engines.map(({ pid }) => readFile(`/proc/${pid}/stat`, 'utf8')));
  // Fields 14 to 17; the second may hold spaces.
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
    'CPU s a video': row(({ cpuSecondsEach }) => cpuSecondsEach),
    'ffmpeg alone, runs/min': row(({ bare }) => bare),
  };
  print(line(['', 'one engine', 'two', 'ratio']));
  for (const [name, { one, two, ratio }] of Object.entries(rows)) {
    print(line([name, one.toFixed(2), two.toFixed(2), ratio.toFixed(2)]));
  }
  print(JSON.stringify({ rounds, rows }));
}
