import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { checkStream, violations as hlsViolations } from '@framelane/hls-conformance';
import { until } from '@framelane/test-kit/until';
import type { Cluster } from './cluster.ts';
import { readDatabase } from './database-state.ts';
import { leaks } from './leaks.ts';
import { logged } from './logged.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type Expected, unfinishedWork, violations } from './violations.ts';

/** How long a cluster may take to come to rest: leases must expire and maintenance steps run, on a busy machine. */
const REST_SECONDS = 120;

/** Number of streams to check after a fault. The same code makes all streams, so a sample is enough. */
const STREAMS_CHECKED = 3;

/**
 * The videos of a cluster whose streams were checked, and their ETags then. Most streams are fetched again only if their videos have
 * changed: `violations` finds stored objects that are lost or have another size.
 */
const checkedStreams = new WeakMap<Cluster, Map<string, string>>();

/** Waits until a cluster is at rest without violations. Resolves with the violations that remain after the time limit. */
export async function violationsAtRest(cluster: Cluster, expected: Expected = {}): Promise<string[]> {
  const start = performance.now();
  // The database alone is read faster than all systems.
  await remaining(REST_SECONDS, async () => unfinishedWork(await readDatabase(cluster.postgres)));
  const secondsLeft = REST_SECONDS - (performance.now() - start) / 1000;
  let state: Snapshot | undefined;
  const wrong = await remaining(secondsLeft, async () => {
    state = await takeSnapshot(cluster);
    return violations(state, expected);
  });
  return wrong.length > 0 || state === undefined ? wrong : atRest(cluster, state);
}

/**
 * Repeats a check until it finds no violation. Resolves with those that it still finds after the time limit: an error would hide the
 * violations that other checks find.
 */
async function remaining(seconds: number, check: () => Promise<string[]>): Promise<string[]> {
  let found: string[] = [];
  const findsNone = async () => {
    found = [];
    found = await check();
    return found.length === 0;
  };
  await until(findsNone, { seconds, longestPauseMs: 250 }).catch((error) => {
    // Not the time limit: the check itself has failed.
    if (found.length === 0) throw error;
  });
  return found;
}

/** Violations that take longer to check: streams, usage, unsettled messages, open files, leaks and errors in the log. */
async function atRest(cluster: Cluster, { videos, objects, usage }: Snapshot): Promise<string[]> {
  const ready = videos.filter(({ status, deleted }) => status === 'ready' && !deleted);
  const known = checkedStreams.get(cluster) ?? new Map<string, string>();
  checkedStreams.set(cluster, known);
  const newest = ready.slice(-STREAMS_CHECKED);
  const etags = new Map(
    await Promise.all(newest.map(async ({ id }) => [id, await cluster.api.etag(id)] as const)),
  );
  // One in any case: each fault may also affect how bytes are counted.
  const checked = newest.filter(
    (video) => video === newest.at(-1) || known.get(video.id) !== etags.get(video.id),
  );
  const streams = checked.map(async ({ id, segments }) => {
    const facts = { storedSegments: segments };
    const { report } = await checkStream(cluster.api.playlistOf(id), { profile: 'framelane', facts });
    const found = hlsViolations(report).map((violation) => `2: ${id}: ${violation}`);
    if (found.length === 0) known.set(id, etags.get(id) as string);
    return found;
  });
  const broken = (await Promise.all(streams)).flat();
  const played = checked
    .flatMap(({ id, workspaceId, attempt, stored }) =>
      stored.map((segment) => objects.get(`hls/${workspaceId}/${id}/a${attempt}/${segment}`) ?? 0),
    )
    .reduce((sum, bytes) => sum + bytes, 0);
  const found = await Promise.all([
    uncountedBytes(cluster, usage.bandwidthBytes + played),
    unsettledMessages(cluster),
    openFiles(cluster),
    leaks(
      cluster,
      ready.map(({ id }) => id),
    ),
  ]);
  return [...broken, ...found.flat(), ...internalErrors(cluster)];
}

/** Services store usage every second. On a busy machine it may take longer. */
const USAGE_SECONDS = 15;

/** 8: bytes of the streams just fetched that are not counted. */
function uncountedBytes(cluster: Cluster, atLeast: number): Promise<string[]> {
  return remaining(USAGE_SECONDS, async () => {
    const [counted] = await cluster.postgres.query<{ bytes: number }>(
      'select coalesce(sum(bandwidth_bytes), 0)::float8 as bytes from usage_daily',
    );
    const bytes = counted?.bytes ?? 0;
    return bytes >= atLeast ? [] : [`8: ${bytes} bytes are counted, but at least ${atLeast} were sent`];
  });
}

/** 10: responses with status 500, which no fault explains. */
function internalErrors({ services }: Cluster): string[] {
  return logged(services, 'request.failed')
    .filter(({ status }) => status === 500)
    .map((line) => `10: ${JSON.stringify(line)}`);
}

/** The broker updates the count of unsettled messages twice a second. On a busy machine it may take longer. */
const SETTLE_SECONDS = 15;

/** 6: messages that a consumer received and did not settle. */
function unsettledMessages({ rabbitmq }: Cluster): Promise<string[]> {
  return remaining(SETTLE_SECONDS, async () => {
    const held = Object.entries(await rabbitmq.unsettledMessages()).filter(([, count]) => count > 0);
    return held.map(([queue, count]) => `6: ${count} messages of ${queue} are not settled`);
  });
}

/** 7: open files of finished jobs and uploads. */
async function openFiles({ engines, workDir }: Cluster): Promise<string[]> {
  const found = engines.map(async ({ name, pid }) => {
    if (pid === undefined) return [];
    const folder = `/proc/${pid}/fd`;
    // A descriptor may be closed meanwhile.
    const links = (await readdir(folder)).map((descriptor) =>
      readlink(join(folder, descriptor)).catch(() => ''),
    );
    const paths = (await Promise.all(links)).filter((path) => path.startsWith(workDir));
    return paths.map((path) => `7: ${name} still has ${path} open`);
  });
  return (await Promise.all(found)).flat();
}
