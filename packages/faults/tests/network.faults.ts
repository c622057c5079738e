import { readFile } from 'node:fs/promises';
import { formWith } from '@framelane/test-kit/multipart';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { API_KEY, type Ticket, WORKSPACE_ID } from '../src/api.ts';
import { outcomesOf } from '../src/attempts.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { hasLogged } from '../src/logged.ts';
import { beginPausedTranscode } from '../src/paused-transcode.ts';
import { type Outcome, outcomeOf, sendRaw } from '../src/raw-upload.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { holdUpload, untilLeaseRenewed } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const ACCEPTED = { status: 202, code: undefined };
const UNAVAILABLE = { status: 503, code: 'unavailable' };

/** Limit for a 503 response. */
const RESPONSE_TIMEOUT_MS = 25_000;

let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  [cluster, clips] = await Promise.all([Cluster.start({ anyStorage: true, codecs: ['av1'] }), makeClips()]);
});
afterEach(async () => {
  cluster.heal();
  // A test that fails may have left an encoder stopped.
  for (const engine of cluster.engines.filter(({ pid }) => pid !== undefined))
    await engine.signalPrograms('SIGCONT');
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

async function sendOnce({ uploadToken }: Ticket): Promise<Outcome> {
  const body = formWith(await readFile(clips.short));
  return sendRaw(cluster.proxies.uploads.port, { token: uploadToken, body });
}

async function noneReady(services: readonly ServiceProcess[]): Promise<void> {
  await until(async () => !(await Promise.all(services.map((service) => service.isReady()))).includes(true));
}

test.each(['cut', 'silence'] as const)(
  'a %s of the connections to the broker loses nothing',
  async (fault) => {
    const { videoId, engine } = await beginPausedTranscode(cluster, clips.medium);
    const other = await cluster.api.send(clips.short);

    cluster.proxies.broker[fault]();
    await engine.signalPrograms('SIGCONT');
    await noneReady(cluster.services);
    cluster.proxies.broker.heal();

    for (const id of [videoId, other]) await cluster.api.client.videos.waitUntilReady(id);
  },
);

describe('a single engine that is cut off', () => {
  test('from the broker abandons an attempt whose lease has expired, and leaves nothing of it', async () => {
    const { videoId, engine } = await beginPausedTranscode(cluster, clips.medium);

    cluster.proxiesOf(engine).broker.cut();
    await until(() => hasLogged([engine], 'task.abandoned', videoId));
    cluster.proxiesOf(engine).broker.heal();

    await cluster.api.client.videos.waitUntilReady(videoId);
    await engine.ready();
    expect(await outcomesOf(cluster, videoId)).toEqual(['lease_expired', 'completed']);
  });

  test('from everything but the storage reports a result that is ignored', async () => {
    const { videoId, engine } = await beginPausedTranscode(cluster, clips.medium);
    const proxies = Object.values(cluster.proxiesOf(engine));

    for (const proxy of proxies) proxy.cut();
    await engine.signalPrograms('SIGCONT');
    await until(() => hasLogged([engine], 'transcode.ffmpeg_ended', videoId));
    const video = await cluster.api.client.videos.waitUntilReady(videoId);
    for (const proxy of proxies) proxy.heal();
    await until(() => hasLogged(cluster.controlPlanes, 'attempt.result_ignored', videoId));

    expect(await outcomesOf(cluster, videoId)).toEqual(['lease_expired', 'completed']);
    expect(await cluster.api.video(videoId)).toEqual(video);
  });
});

test.each(['cut', 'silence'] as const)(
  'during a %s of the connections to PostgreSQL requests get 503, and work continues afterwards',
  async (fault) => {
    const ready = await cluster.api.send(clips.short);
    await cluster.api.client.videos.waitUntilReady(ready);
    const ticket = await cluster.api.ticket();
    const { videoId: running, engine } = await beginPausedTranscode(cluster, clips.medium);

    cluster.proxies.database[fault]();
    await engine.signalPrograms('SIGCONT');
    const responses = cluster.controlPlanes.flatMap(({ url }) => [
      statusOf(`${url}/v1/videos`),
      statusOf(`${url}/v1/videos/upload-ticket`, { filename: 'late.mp4' }),
      statusOf(`${url}/v1/hls/${WORKSPACE_ID}/${ready}/master.m3u8`),
    ]);
    expect(new Set(await Promise.all(responses))).toEqual(new Set([503]));
    expect(await sendOnce(ticket)).toEqual(UNAVAILABLE);
    await noneReady(cluster.controlPlanes);
    cluster.proxies.database.heal();

    await Promise.all(cluster.services.map((service) => service.ready()));
    expect(await sendOnce(ticket)).toEqual(ACCEPTED);
    for (const id of [ticket.videoId, running]) await cluster.api.client.videos.waitUntilReady(id);
  },
);

/** The status of an API response within the time limit. */
async function statusOf(url: string, body?: object): Promise<number> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'x-svc-workspace': WORKSPACE_ID,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
  await response.arrayBuffer();
  return response.status;
}

test('a claim whose response is lost does not count as a failure', async () => {
  const ticket = await cluster.api.ticket();
  const held = await holdUpload(cluster, ticket, { file: await readFile(clips.short), fraction: 0.5 });
  await untilLeaseRenewed(cluster, ticket);
  cluster.proxies.internal.silence(['to-client']);
  // The event registers the file. Then an engine claims the attempt, and gets no response.
  await held.sendUntil(1);
  await until(() => hasLogged(cluster.engines, 'work.request_failed', ticket.videoId));
  cluster.proxies.internal.heal();
  await until(async () => {
    const failed = 'select from tasks where video_id = $1 and failed_tries > 0';
    expect(await cluster.postgres.query(failed, [ticket.videoId])).toEqual([]);
    return (await cluster.api.client.videos.get(ticket.videoId)).status === 'ready';
  });
});

test.each(['cut', 'silence'] as const)(
  'during a %s of the connections to the internal listeners running work continues, and new work waits',
  async (fault) => {
    const { videoId: running, engine } = await beginPausedTranscode(cluster, clips.medium);
    const [begun, late] = await Promise.all([cluster.api.ticket(), cluster.api.ticket()]);
    const held = await holdUpload(cluster, begun, { file: await readFile(clips.short), fraction: 0.5 });
    await untilLeaseRenewed(cluster, begun);

    cluster.proxies.internal[fault]();
    await engine.signalPrograms('SIGCONT');
    await held.sendUntil(1);
    // The event registers the file, but the engine gets no response.
    expect(await outcomeOf(held.client)).toEqual(UNAVAILABLE);
    expect(await sendOnce(late)).toEqual(UNAVAILABLE);
    await cluster.api.client.videos.waitUntilReady(running);
    await until(() => hasLogged(cluster.engines, 'work.request_failed', begun.videoId));
    cluster.proxies.internal.heal();

    expect(await sendOnce(begun)).toEqual({ status: 401, code: 'upload_token_used' });
    expect(await sendOnce(late)).toEqual(ACCEPTED);
    for (const { videoId } of [begun, late]) await cluster.api.client.videos.waitUntilReady(videoId);
  },
);
