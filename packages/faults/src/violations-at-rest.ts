import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkStream, violations as hlsViolations } from '@framelane/hls-conformance';
import type { Cluster } from './cluster.ts';
import { leaks } from './leaks.ts';
import { logged } from './logged.ts';
import { readDatabase, type Snapshot, takeSnapshot } from './snapshot.ts';
import { type Expected, unfinishedWork, violations } from './violations.ts';

/** How long a cluster may take to come to rest: leases must expire and maintenance steps run, on a busy machine. */
const REST_TIMEOUT_MS = 120_000;

/** Number of streams to check after a fault. The same code makes all streams, so a sample is enough. */
const STREAMS_CHECKED = 3;

/** Waits until a cluster is at rest without violations. Resolves with the violations that remain after the time limit. */
export async function violationsAtRest(cluster: Cluster, expected: Expected = {}): Promise<string[]> {
  const deadline = Date.now() + REST_TIMEOUT_MS;
  // The database alone is read faster than all systems.
  while (Date.now() < deadline && unfinishedWork(await readDatabase(cluster)).length > 0) await pause(250);
  for (;;) {
    const state = await takeSnapshot(cluster);
    const wrong = violations(state, expected);
    if (wrong.length === 0) return atRest(cluster, state);
    if (Date.now() > deadline) return wrong;
    await pause(250);
  }
}

/** Violations that take longer to check: streams, usage, unsettled messages, open files, leaks and errors in the log. */
async function atRest(cluster: Cluster, { videos, objects, usage }: Snapshot): Promise<string[]> {
  const ready = videos.filter(({ status, deleted }) => status === 'ready' && !deleted);
  const checked = ready.slice(-STREAMS_CHECKED);
  const streams = checked.map(async ({ id, segments }) => {
    const facts = { storedSegments: segments };
    const { report } = await checkStream(cluster.api.playlistOf(id), { profile: 'framelane', facts });
    return hlsViolations(report).map((violation) => `2: ${id}: ${violation}`);
  });
  const broken = (await Promise.all(streams)).flat();
  const played = checked
    .flatMap(({ id, workspaceId, attempt, stored }) =>
      stored.map((segment) => objects.get(`hls/${workspaceId}/${id}/a${attempt}/${segment}`) ?? 0),
    )
    .reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...broken,
    ...(await uncountedBytes(cluster, usage.bandwidthBytes + played)),
    ...(await unsettledMessages(cluster)),
    ...(await openFiles(cluster)),
    ...(await leaks(
      cluster,
      ready.map(({ id }) => id),
    )),
    ...internalErrors(cluster),
  ];
}

/** Services store usage every second. On a busy machine it may take longer. */
const USAGE_TIMEOUT_MS = 15_000;

/** 8: bytes of the streams just fetched that are not counted. */
async function uncountedBytes(cluster: Cluster, atLeast: number): Promise<string[]> {
  const deadline = Date.now() + USAGE_TIMEOUT_MS;
  for (;;) {
    const [counted] = await cluster.postgres.query<{ bytes: number }>(
      'select coalesce(sum(bandwidth_bytes), 0)::float8 as bytes from usage_daily',
    );
    const bytes = counted?.bytes ?? 0;
    if (bytes >= atLeast) return [];
    if (Date.now() > deadline) return [`8: ${bytes} bytes are counted, but at least ${atLeast} were sent`];
    await pause(250);
  }
}

/** 10: responses with status 500, which no fault explains. */
function internalErrors({ services }: Cluster): string[] {
  return logged(services, 'request.failed')
    .filter(({ status }) => status === 500)
    .map((line) => `10: ${JSON.stringify(line)}`);
}

/** The broker updates the count of unsettled messages twice a second. On a busy machine it may take longer. */
const SETTLE_TIMEOUT_MS = 15_000;

/** 6: messages that a consumer received and did not settle. */
async function unsettledMessages({ rabbitmq }: Cluster): Promise<string[]> {
  const deadline = Date.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    const held = Object.entries(await rabbitmq.unsettledMessages()).filter(([, count]) => count > 0);
    if (held.length === 0 || Date.now() > deadline) {
      return held.map(([queue, count]) => `6: ${count} messages of ${queue} are not settled`);
    }
    await pause(100);
  }
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
