import { readFile } from 'node:fs/promises';
import { Gateway, gatewayObstacle } from '@framelane/test-kit/gateway';
import { formWith } from '@framelane/test-kit/multipart';
import { requires } from '@framelane/test-kit/requires';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Ticket } from '../src/api.ts';
import { outcomesOf } from '../src/attempts.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { hasLogged, logged } from '../src/logged.ts';
import { beginPausedTranscode } from '../src/paused-transcode.ts';
import { type HeldUpload, type Outcome, outcomeOf, sendRaw } from '../src/raw-upload.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { holdUpload } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const withGateway = requires('HAProxy', gatewayObstacle());

const ACCEPTED = { status: 202, code: undefined };

let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  [cluster, clips] = await Promise.all([Cluster.start({ anyStorage: true, codecs: ['av1'] }), makeClips()]);
});
afterAll(async () => {
  await cluster?.stop();
});

test('engines hand back their jobs on SIGTERM and exit with 0', async () => {
  const jobs = [
    await beginPausedTranscode(cluster, clips.medium),
    await beginPausedTranscode(cluster, clips.medium),
  ];
  for (const { engine } of jobs) await engine.signalPrograms('SIGCONT');

  const codes = await Promise.all(cluster.engines.map((engine) => engine.end('SIGTERM')));
  expect(codes).toEqual([0, 0]);
  await Promise.all(cluster.engines.map((engine) => engine.start()));

  for (const { videoId } of jobs) {
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(await outcomesOf(cluster, videoId)).toEqual(['handed_back', 'completed']);
  }
  expect(await violationsAtRest(cluster)).toEqual([]);
});

type Held = { ticket: Ticket; upload: HeldUpload };

/** An upload that pauses halfway. */
async function holdAt(port: number, file: Buffer): Promise<Held> {
  const ticket = await cluster.api.ticket();
  return { ticket, upload: await holdUpload(cluster, ticket, { file, fraction: 0.5, port }) };
}

function portOf({ url }: ServiceProcess): number {
  return Number(new URL(url).port);
}

describe('uploads to an engine that gets SIGTERM', () => {
  test('finish, or get 503 and succeed at another engine', async () => {
    const [engine, other] = cluster.engines as [ServiceProcess, ServiceProcess];
    const [fast, slow] = await Promise.all([hold(engine), hold(engine)]);

    const ended = engine.end('SIGTERM');
    await until(async () => !(await engine.isReady()));
    await fast.upload.sendUntil(1);
    expect(await outcomeOf(fast.upload.client)).toEqual(ACCEPTED);
    expect(await outcomeOf(slow.upload.client)).toEqual({ status: 503, code: 'unavailable' });
    expect(await sendTo(other, slow.ticket)).toEqual(ACCEPTED);
    expect(await ended).toBe(0);
    await engine.start();

    for (const { ticket } of [fast, slow]) await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('are dropped at a second signal and can be retried', async () => {
    const [engine, other] = cluster.engines as [ServiceProcess, ServiceProcess];
    const { ticket, upload } = await hold(engine);

    const ended = engine.end('SIGTERM');
    await until(() => {
      // Signals within a second count as one.
      if (engine.pid !== undefined) process.kill(engine.pid, 'SIGTERM');
      return engine.pid === undefined;
    });
    expect(await ended).toBe(1);
    await until(() => upload.client.closed);
    expect(upload.client.received).toBe('');
    await engine.start();
    await until(async () => (await sendTo(other, ticket)).status === ACCEPTED.status);

    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  async function hold(engine: ServiceProcess): Promise<Held> {
    return holdAt(portOf(engine), await readFile(clips.short));
  }

  async function sendTo(engine: ServiceProcess, { uploadToken }: Ticket): Promise<Outcome> {
    const body = formWith(await readFile(clips.short));
    return sendRaw(portOf(engine), { token: uploadToken, body });
  }
});

withGateway.test('engines restarted one after another behind the gateway break no upload', async () => {
  const gateway = await Gateway.start({
    controlPlane: portOf(cluster.controlPlanes[0] as ServiceProcess),
    engines: cluster.engines.map(portOf),
  });
  // Larger than the buffers of the gateway, and no video, so that its transcode takes little time.
  const file = Buffer.alloc(300_000, 'These are notes. ');
  const body = formWith(file);
  const send = async () => {
    const { videoId, uploadToken } = await cluster.api.ticket();
    const outcome = await sendRaw(gateway.uploads, { token: uploadToken, body });
    return { videoId, outcome };
  };
  const brokenBefore = logged(cluster.engines, 'upload.broken');
  try {
    for (const [index, engine] of cluster.engines.entries()) {
      const other = cluster.engines[1 - index] as ServiceProcess;
      // Until the gateway has sent an upload to each engine.
      const first: string[] = [];
      await until(async () => {
        first.push((await send()).videoId);
        return [engine, other].every((each) => first.some((id) => hasLogged([each], 'upload.received', id)));
      });
      const held = await Promise.all(Array.from({ length: 4 }, () => holdAt(gateway.uploads, file)));
      const ended = engine.end('SIGTERM');
      await until(async () => !(await engine.isReady()));

      const sent = await Promise.all(Array.from({ length: 3 }, send));
      expect(sent.map(({ outcome }) => outcome)).toEqual(sent.map(() => ACCEPTED));
      await until(() => sent.every(({ videoId }) => hasLogged([other], 'upload.received', videoId)));

      await Promise.all(held.map(({ upload }) => upload.sendUntil(1)));
      const outcomes = await Promise.all(held.map(({ upload }) => outcomeOf(upload.client)));
      expect(outcomes).toEqual(held.map(() => ACCEPTED));
      await until(() => held.some(({ ticket }) => hasLogged([engine], 'upload.received', ticket.videoId)));
      expect(await ended).toBe(0);
      await engine.start();
    }
    expect(logged(cluster.engines, 'upload.broken')).toEqual(brokenBefore);
    expect(await violationsAtRest(cluster)).toEqual([]);
  } finally {
    await gateway.stop();
  }
});

test('control planes restarted one after another interrupt nothing', async () => {
  const videoIds: string[] = [];
  for (const controlPlane of cluster.controlPlanes) {
    videoIds.push(...(await Promise.all([cluster.api.send(clips.short), cluster.api.send(clips.short)])));
    expect(await controlPlane.end('SIGTERM')).toBe(0);
    videoIds.push(await cluster.api.send(clips.short));
    await controlPlane.start();
  }

  for (const id of videoIds) await cluster.api.client.videos.waitUntilReady(id);
  expect(await violationsAtRest(cluster)).toEqual([]);
});
