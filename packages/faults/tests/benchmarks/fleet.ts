/**
 * What a second engine brings: `pnpm bench:fleet [--videos=1] [--rounds=5]`. A cluster of processes transcodes `videos`
 * videos an engine: with one engine on one processor, with two on two, and with one on the other processor. An engine is
 * bound to its processor with all that it starts. A round compares two engines with the mean of one on either, as no two
 * processors of a machine that is shared are alike. In the same round an ffmpeg without any engine does so: it shows what
 * a second processor of this machine is worth. Medians of the rounds are printed, as a table and as JSON.
 *
 * Everything else runs on the same processors: control plane, PostgreSQL, RabbitMQ and this program, which plays the
 * object store. Videos and preset are such that ffmpeg is nearly all of the work. What other programs take shows in the
 * column "got": the part of their processors the engines had.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { line, median, print } from '../../../../infra/testing/benchmark-table.ts';
import { makeClip } from '../../src/clips.ts';
import { Cluster } from '../../src/cluster.ts';
import { logged } from '../../src/logged.ts';
import { query } from '../../src/query.ts';
import type { ServiceProcess } from '../../src/service-process.ts';
import { until } from '../../src/until.ts';

const run = promisify(execFile);

/** Times in /proc are in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const LIMIT_SECONDS = 3600;

/** `got` is the part of their processors that the engines had, `bare` what ffmpeg alone makes on the same processors. */
type Run = { perMinute: number; got: number; bare: number };
type Attempt = { video_id: string; started_at: Date; finished_at: Date };
type Round = { one: Run; two: Run };

const { values: options } = parseArgs({
  options: { videos: { type: 'string', default: '1' }, rounds: { type: 'string', default: '5' } },
});
if (availableParallelism() < 2) throw new Error('Two engines need two processors');

// Few bytes and much to encode: an upload costs this program more than an engine.
const directory = await mkdtemp(join(tmpdir(), 'framelane-fleet-'));
const clip = join(directory, 'clip.avi');
await makeClip(clip, { size: '1280x720', seconds: 30, quality: 20 });
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
    RECONCILE_SECONDS: undefined,
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
    const one = {
      perMinute: (first.perMinute + second.perMinute) / 2,
      got: (first.got + second.got) / 2,
      bare: (first.bare + second.bare) / 2,
    };
    rounds.push({ one, two });
    process.stderr.write(`round ${rounds.length}: ${(two.perMinute / one.perMinute).toFixed(2)}\n`);
  }
  report(rounds);
} finally {
  await cluster.stop();
  await rm(directory, { recursive: true });
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
    'select video_id, started_at, finished_at from attempts where video_id = any($1)',
    [ids],
  );
  const shares = engines.map((engine) => {
    const done = new Set(logged([engine], 'transcode.completed').map(({ videoId }) => videoId));
    return attempts.filter(({ video_id }) => done.has(video_id));
  });
  // Engines end at different times, after which one has nothing to do: each has made so many in its own time.
  const rates = shares.map((share) => share.length / secondsOf(share));
  return {
    perMinute: sum(rates) * 60,
    got: busy / sum(shares.map(secondsOf)),
    bare: sum(await Promise.all(processors.map(bareRate))) * 60,
  };
}

/** From the first claim to the last result, as the database has them. */
function secondsOf(share: readonly Attempt[]): number {
  const first = Math.min(...share.map(({ started_at }) => started_at.getTime()));
  const last = Math.max(...share.map(({ finished_at }) => finished_at.getTime()));
  return (last - first) / 1000;
}

/** How many times a second ffmpeg alone encodes the clip, as it is. */
async function bareRate(processor: number): Promise<number> {
  const begin = performance.now();
  const encode = ['-v', 'error', '-i', clip, '-c:v', 'libx264', '-preset', 'medium', '-f', 'null', '-'];
  await run('taskset', ['--cpu-list', String(processor), 'ffmpeg', ...encode]);
  return 1000 / (performance.now() - begin);
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
  engine.launch();
  await run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(processor), String(engine.pid)]);
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
  const rows = (['one', 'two'] as const).map((size) => ({
    engines: size,
    perMinute: middle((round) => round[size].perMinute),
    got: middle((round) => round[size].got),
    bare: middle((round) => round[size].bare),
  }));
  const ratios = rounds.map(({ one, two }) => two.perMinute / one.perMinute);
  const [ratio, lowest, highest] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
  const bareRatio = middle(({ one, two }) => two.bare / one.bare);
  print(line(['engines', 'videos/min', 'got', 'ffmpeg']));
  for (const { engines, perMinute, got, bare } of rows) {
    print(line([engines, perMinute.toFixed(2), `${(got * 100).toFixed(0)} %`, bare.toFixed(2)]));
  }
  print(
    `two engines make ${ratio.toFixed(2)} times what one makes (${lowest.toFixed(2)} to ${highest.toFixed(2)})`,
  );
  print(`ffmpeg alone makes ${bareRatio.toFixed(2)} times as much on two processors as on one`);
  print(JSON.stringify({ rounds: rounds.length, rows, ratios, ratio, bareRatio }));
}
