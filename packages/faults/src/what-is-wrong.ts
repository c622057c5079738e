import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkStream, complaints } from '@framelane/hls-conformance/check';
import type { Cluster } from './cluster.ts';
import { leaks } from './leaks.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type Expected, violations } from './violations.ts';

/** How long a cluster may take to come to rest: leases and the reconciler's rounds, on a busy machine. */
const REST_LIMIT_MS = 90_000;

/** Streams that are checked after one fault; all of them are made in the same way. */
const STREAMS_CHECKED = 3;

/**
 * Waits until a cluster is at rest and as it should be, for a while at the most. Resolves with what is wrong with it
 * then, in words; nothing is what every test wants.
 */
export async function whatIsWrong(cluster: Cluster, expected: Expected = {}): Promise<string[]> {
  const deadline = Date.now() + REST_LIMIT_MS;
  for (;;) {
    const state = await takeSnapshot(cluster);
    const wrong = violations(state, expected);
    if (wrong.length === 0) return atRest(cluster, state);
    if (Date.now() > deadline) return wrong;
    await pause(250);
  }
}

/** What takes a closer look: streams that do not play, messages and files that are held on to, secrets in the open. */
async function atRest(cluster: Cluster, { videos }: Snapshot): Promise<string[]> {
  const ready = videos.filter(({ status, deleted }) => status === 'ready' && !deleted);
  const streams = ready.slice(-STREAMS_CHECKED).map(async ({ id, segments }) => {
    const facts = { storedSegments: segments };
    const { report } = await checkStream(cluster.api.playlistOf(id), { profile: 'framelane', facts });
    return complaints(report).map((complaint) => `2: ${id}: ${complaint}`);
  });
  const broken = (await Promise.all(streams)).flat();
  return [
    ...broken,
    ...(await unsettledMessages(cluster)),
    ...(await openFiles(cluster)),
    ...(await leaks(
      cluster,
      ready.map(({ id }) => id),
    )),
  ];
}

/** The broker counts what consumers hold every five seconds. */
const COUNT_LIMIT_MS = 15_000;

/** 6: messages that a consumer took and said nothing of. */
async function unsettledMessages({ rabbitmq }: Cluster): Promise<string[]> {
  const deadline = Date.now() + COUNT_LIMIT_MS;
  for (;;) {
    const text = await rabbitmq.control(
      'list_queues',
      '--no-table-headers',
      'name',
      'messages_unacknowledged',
    );
    const held = text
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([, count]) => count !== '0');
    if (held.length === 0 || Date.now() > deadline) {
      return held.map(
        ([queue, count]) => `6: ${count} messages of ${queue} are neither taken nor given back`,
      );
    }
    await pause(500);
  }
}

/** 7: descriptors of files of jobs and uploads that are over. */
async function openFiles({ engines, workDir }: Cluster): Promise<string[]> {
  const found = engines.map(async ({ name, pid }) => {
    if (pid === undefined) return [];
    const folder = `/proc/${pid}/fd`;
    // One that was closed meanwhile leads nowhere.
    const links = (await readdir(folder)).map((descriptor) =>
      readlink(join(folder, descriptor)).catch(() => ''),
    );
    const paths = (await Promise.all(links)).filter((path) => path.startsWith(workDir));
    return paths.map((path) => `7: ${name} still has ${path} open`);
  });
  return (await Promise.all(found)).flat();
}
