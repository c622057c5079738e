import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkStream, violations } from '@framelane/hls-conformance';
import { startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import { Random, testSeed } from '@framelane/test-kit/random';
import { makeClips } from '../clips.ts';
import { Cluster } from '../cluster.ts';
import { PostgresServer } from '../postgres-server.ts';
import { sendWithRetries, withRetries } from '../retries.ts';
import { victimsOf } from '../victims.ts';
import { violationsAtRest } from '../violations-at-rest.ts';
import { type Run, reportOf } from './report.ts';
import { takeSamples } from './samples.ts';

const HELP = `pnpm test:soak [options]

Uploads videos to a cluster of processes for hours, plays and deletes the older ones, and checks at intervals that nothing is lost and no guarantee of docs/reliability.md is broken.
Writes a report with graphs of memory, descriptors, connections and dead rows.

  --minutes=120            how long
  --uploads-per-minute=10  0.5 to 60
  --kills=0                how many times a random process is killed; the last kill ends the run
  --report=soak-report     the folder for the report

PROPERTY_SEED chooses the moments and the victims.
`;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    'uploads-per-minute': { type: 'string', default: '10' },
    kills: { type: 'string', default: '0' },
    report: { type: 'string', default: 'soak-report' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(HELP);
  process.exit();
}
const MINUTES = numberOf('minutes', [0.1, 10_000]);
const UPLOAD_SECONDS = 60 / numberOf('uploads-per-minute', [0.5, 60]);
const KILLS = numberOf('kills', [0, 1_000_000]);

function numberOf(name: 'minutes' | 'uploads-per-minute' | 'kills', [least, most]: [number, number]): number {
  const number = Number(options[name]);
  if (number >= least && number <= most) return number;
  process.stderr.write(`--${name} must be a number from ${least} to ${most}, not ${options[name]}.\n`);
  process.exit(2);
}

/** Older videos are deleted. */
const KEPT_VIDEOS = 20;
const SAMPLE_SECONDS = 15;
/** Between two checks of all guarantees, during which nothing is uploaded or killed. */
const CHECK_MINUTES = 10;
/** The longest pause before a kill. */
const KILL_SECONDS = 3;
/** Longer than a video takes while processes are killed. A check reports those that are not ready. */
const READY_SECONDS = 600;
/** Uploads that wait for the cluster. When there are so many, no others begin. */
const MAX_IN_PROGRESS = 12;

const seed = testSeed();
const random = new Random(seed);
const [postgres, rabbitmq, clips] = await Promise.all([PostgresServer.start(), startRabbitMq(), makeClips()]);
const cluster = await Cluster.start({ anyStorage: true, codecs: ['av1'], postgres, rabbitmq });
const victims = victimsOf(cluster, { postgres, rabbitmq });
const run: Run = {
  seed,
  minutes: 0,
  accepted: 0,
  deleted: 0,
  lost: [],
  violations: [],
  kills: {},
  samples: [],
};
const startedAt = performance.now();
const minutes = () => (performance.now() - startedAt) / 60_000;
const killed = () => Object.values(run.kills).reduce((sum, times) => sum + times, 0);
const isOver = () => minutes() >= MINUTES || run.violations.length > 0 || (KILLS > 0 && killed() >= KILLS);

/** The videos that were accepted and not deleted, oldest first. */
const videos: string[] = [];
const inProgress = new Set<Promise<void>>();

async function upload(): Promise<void> {
  const id = await sendWithRetries(cluster.api, clips.short);
  run.accepted += 1;
  videos.push(id);
  if (!(await becomesReady(id)) || videos.length <= KEPT_VIDEOS) return;
  const oldest = videos.shift() as string;
  if (!(await becomesReady(oldest))) {
    videos.unshift(oldest);
    return;
  }
  // By now it has its other codecs, too, so its playlists do not change any more.
  if (KILLS === 0) await play(oldest);
  await withRetries(() =>
    cluster.api.delete(oldest).catch((error: { status?: number }) => {
      // The response was lost, but the video is deleted.
      if (error.status !== 404) throw error;
    }),
  );
  run.deleted += 1;
}

async function becomesReady(id: string): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_SECONDS * 1000);
  await withRetries(async () => {
    if (!signal.aborted) await cluster.api.client.videos.waitUntilReady(id, { signal });
  });
  return !signal.aborted;
}

async function play(id: string): Promise<void> {
  const { report } = await checkStream(cluster.api.playlistOf(id), { profile: 'framelane' });
  run.violations.push(...violations(report).map((violation) => `${id}: ${violation}`));
}

/** Uploads at a steady rate until the time is over. */
async function uploadUntil(end: () => boolean): Promise<void> {
  while (!end()) {
    if (inProgress.size < MAX_IN_PROGRESS) {
      const done = upload()
        .catch((error) => void run.violations.push(`An upload or deletion failed: ${error}`))
        .finally(() => inProgress.delete(done));
      inProgress.add(done);
    }
    await pause(UPLOAD_SECONDS * 1000);
  }
  await Promise.all(inProgress);
}

async function killUntil(end: () => boolean): Promise<void> {
  while (KILLS > 0 && !end()) {
    await pause(random.fraction() * KILL_SECONDS * 1000);
    const victim = random.pick(victims);
    run.kills[victim.name] = (run.kills[victim.name] ?? 0) + 1;
    await victim.kill(random);
  }
}

async function check(): Promise<void> {
  run.violations.push(...(await violationsAtRest(cluster, { serverErrors: KILLS > 0 })));
  const found = await Promise.all(
    videos.map(async (id) => ({ id, status: (await cluster.api.video(id))?.status })),
  );
  run.lost = found.filter(({ status }) => status !== 'ready').map(({ id, status }) => `${id}: ${status}`);
  run.minutes = minutes();
  await mkdir(options.report, { recursive: true });
  for (const [name, content] of Object.entries(reportOf(run)))
    await writeFile(join(options.report, name), content);
  process.stdout.write(
    `${minutes().toFixed(0)} minutes: ${run.accepted} videos accepted, ${run.lost.length} lost, ${run.deleted} deleted, ` +
      `${killed()} kills, ${run.violations.length} violations\n`,
  );
}

const sampling = setInterval(() => {
  void takeSamples(cluster, minutes()).then((samples) => run.samples.push(...samples));
}, SAMPLE_SECONDS * 1000);
try {
  while (!isOver()) {
    const pausesAt = minutes() + CHECK_MINUTES;
    const end = () => isOver() || minutes() >= pausesAt;
    await Promise.all([uploadUntil(end), killUntil(end)]);
    await check();
  }
  for (const violation of [...run.violations, ...run.lost]) process.stdout.write(`${violation}\n`);
  process.exitCode = run.violations.length + run.lost.length === 0 ? 0 : 1;
} finally {
  clearInterval(sampling);
  await cluster.stop();
}
