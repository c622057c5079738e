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

/** What takes a closer look: streams that do not play, secrets in the open. */
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
    ...(await leaks(
      cluster,
      ready.map(({ id }) => id),
    )),
  ];
}
