/**
 * What a second engine brings: `pnpm bench:fleet [--videos=3] [--rounds=3]`. A cluster of processes transcodes `videos`
 * videos an engine, with one engine and with two in turns, each bound to a processor of its own with all that it starts.
 * Ratios are taken round by round; medians are printed, as a table and as JSON.
 *
 * Everything else runs on the same processors: control plane, PostgreSQL, RabbitMQ and this program, which plays the
 * object store. Videos and preset are such that ffmpeg is nearly all of the work. What other programs take shows in the
 * column "got": the part of their processors the engines had.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { line, median, print } from '../../../../infra/testing/benchmark-table.ts';
import { makeClips } from '../../src/clips.ts';
import { Cluster } from '../../src/cluster.ts';
import { query } from '../../src/query.ts';
import type { ServiceProcess } from '../../src/service-process.ts';

const run = promisify(execFile);

const SIZES = [1, 2] as const;
/** Times in /proc are in hundredths of a second. */
const TICKS_PER_SECOND = 100;

type Run = { perMinute: number; processorsGot: number };

const { values: options } = parseArgs({
  options: { videos: { type: 'string', default: '3' }, rounds: { type: 'string', default: '3' } },
});
if (availableParallelism() < 2) throw new Error('Two engines need two processors');

const clips = await makeClips();
const cluster = await Cluster.start({
  controlPlanes: 1,
  engines: 2,
  // Leases are for a machine that is kept busy on purpose.
  env: {
    ENGINE_PRESET: 'medium',
    ATTEMPT_LEASE_SECONDS: '60',
    UPLOAD_LEASE_SECONDS: '60',
    // bubblewrap does not hand on what its children took.
    ENGINE_SANDBOX: 'none',
  },
});
try {
  const rounds: Record<(typeof SIZES)[number], Run>[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    rounds.push({ 1: await measure(1), 2: await measure(2) });
  }
  report(rounds);
} finally {
  await cluster.stop();
  await clips.remove();
}

async function measure(size: (typeof SIZES)[number]): Promise<Run> {
  const engines = cluster.engines.slice(0, size);
  for (const engine of cluster.engines) await engine.end('SIGTERM');
  for (const [index, engine] of engines.entries()) await startOn(index, engine);
  const before = await cpuSeconds(engines);
  const ids = await Promise.all(
    Array.from({ length: size * Number(options.videos) }, () => cluster.api.send(clips.long)),
  );
  for (const id of ids) await cluster.api.client.waitUntilReady(id);
  const busy = (await cpuSeconds(engines)) - before;
  // From the first claim to the last result, as the database has them.
  const [times] = await query<{ seconds: number }>(
    cluster,
    `select extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
    from attempts where video_id = any($1)`,
    [ids],
  );
  const seconds = times?.seconds ?? Number.NaN;
  return { perMinute: (ids.length / seconds) * 60, processorsGot: busy / seconds };
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
  return ticks.map(Number).reduce((sum, time) => sum + time, 0) / TICKS_PER_SECOND;
}

function report(rounds: readonly Record<(typeof SIZES)[number], Run>[]): void {
  const middle = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const rows = SIZES.map((size) => ({
    engines: size,
    videosPerMinute: middle((round) => round[size].perMinute),
    got: middle((round) => round[size].processorsGot / size),
  }));
  const ratio = middle((round) => round[2].perMinute / round[1].perMinute);
  // As if each engine had got the same of its processor in both.
  const ratioForSameShare = middle(
    (round) =>
      (2 * (round[2].perMinute / round[2].processorsGot)) / (round[1].perMinute / round[1].processorsGot),
  );
  print(line(['engines', 'videos/min', 'got']));
  for (const row of rows) {
    print(line([String(row.engines), row.videosPerMinute.toFixed(2), `${(row.got * 100).toFixed(0)} %`]));
  }
  print(`two engines make ${ratio.toFixed(2)} times what one makes`);
  print(`with the same share of their processors it would be ${ratioForSameShare.toFixed(2)} times`);
  print(JSON.stringify({ rounds: rounds.length, rows, ratio, ratioForSameShare }));
}
