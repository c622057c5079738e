import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { outcomesOf } from '../src/attempts.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { hasLogged, logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

/** Whether the engine gets the response of the control plane that has stored its plan. */
type Response = 'received' | 'lost';

let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  // The tests count tries. On a busy machine, an engine may be late to renew a shorter lease.
  const timing = { taskLease: 8 };
  [cluster, clips] = await Promise.all([Cluster.start({ timing }), makeClips()]);
});
afterEach(async () => {
  cluster.heal();
  letStore();
  // A test that fails may have left a service killed.
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(() => cluster?.stop());

/** Ends the faults of the object store. Requests that hang are disconnected, and engines repeat them. */
function letStore(): void {
  cluster.storage.heal();
  cluster.storage.hangUp();
}

/** Uploads a short video. Resolves with the video and its engine once its plan is stored, while the engine cannot store a segment. */
async function pauseAfterPlan(response: Response): Promise<{ videoId: string; engine: ServiceProcess }> {
  cluster.storage.inject('GetObject', 'hang');
  const videoId = await cluster.api.send(clips.short);
  const engine = await until(() =>
    cluster.engines.find((each) => hasLogged([each], 'task.started', videoId)),
  );
  if (response === 'lost') cluster.proxiesOf(engine).internal.silence(['to-client']);
  letStore();
  cluster.storage.inject('PutObject', 'hang');
  await until(() => hasLogged(cluster.controlPlanes, 'attempt.planned', videoId));
  if (response === 'received') await until(() => hasLogged([engine], 'transcode.planned', videoId));
  expect(hasLogged([engine], 'transcode.planned', videoId)).toBe(response === 'received');
  expect(segmentsOf(videoId)).toEqual([]);
  return { videoId, engine };
}

/** The keys of all stored segments and images of a video. */
function segmentsOf(videoId: string): string[] {
  return [...cluster.storage.objects.keys()].filter(
    (key) => key.startsWith('hls/') && key.includes(`/${videoId}/`),
  );
}

const startedTries = (videoId: string) =>
  logged(cluster.engines, 'task.started').filter((line) => line.videoId === videoId);

const failedRequests = (videoId: string) =>
  logged(cluster.engines, 'work.request_failed').filter((line) => line.videoId === videoId);

/** Whether a control plane has received the result of a video and cannot store it. */
async function isResultRefused(videoId: string): Promise<boolean> {
  const messages = await cluster.tap.messagesOn(videoId);
  const result = messages.find(({ type }) => type === 'task.completed');
  const refused = logged(cluster.controlPlanes, 'event.database_unavailable');
  return result !== undefined && refused.some(({ messageId }) => messageId === result.id);
}

/** The faults, with what control planes refuse during them. */
const FAULTS = {
  'all control planes are killed': {
    begin: () => Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL'))),
    end: () => Promise.all(cluster.controlPlanes.map((each) => each.start())),
    refusesPlans: true,
    refusesResults: false,
  },
  'the broker is cut off': {
    begin: () => cluster.proxies.broker.cut(),
    end: () => cluster.proxies.broker.heal(),
    refusesPlans: false,
    refusesResults: false,
  },
  'PostgreSQL is cut off': {
    begin: () => cluster.proxies.database.cut(),
    end: () => cluster.proxies.database.heal(),
    refusesPlans: true,
    refusesResults: true,
  },
};

describe.each(['received', 'lost'] as const)('while the response to the plan is %s', (response) => {
  test('an engine that is killed is followed by another attempt', async () => {
    const { videoId, engine } = await pauseAfterPlan(response);
    await engine.end('SIGKILL');
    cluster.heal();
    letStore();
    await engine.start();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(await outcomesOf(cluster, videoId)).toEqual(['lease_expired', 'completed']);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])('the try goes on after %s', async (name) => {
    const { begin, end, refusesPlans, refusesResults } = FAULTS[name];
    const { videoId, engine } = await pauseAfterPlan(response);
    await begin();
    cluster.proxiesOf(engine).internal.heal();
    letStore();
    // The first request lost its response, and the repeated one is refused.
    if (response === 'lost' && refusesPlans) await until(() => failedRequests(videoId).length >= 2);
    else await until(() => hasLogged([engine], 'task.finished', videoId));
    if (response === 'received' && refusesResults) await until(() => isResultRefused(videoId));
    await end();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(startedTries(videoId)).toHaveLength(1);
    expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });
});
