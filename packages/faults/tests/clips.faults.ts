import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

/** Within the only segments of a short video. */
const PART = { start: 0.2, end: 0.8 };

let cluster: Cluster;
let file: string;
/** Ready. Clips are made of it. */
let parentId: string;

beforeAll(async () => {
  const [started, clips] = await Promise.all([Cluster.start({ timing: { taskLease: 8 } }), makeClips()]);
  [cluster, file] = [started, clips.short];
  parentId = await readyVideo();
});
afterEach(async () => {
  cluster.heal();
  letStore();
  // A test that fails may have left a service killed.
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(() => cluster?.stop());

async function readyVideo(): Promise<string> {
  const id = await cluster.api.send(file);
  await cluster.api.client.videos.waitUntilReady(id);
  return id;
}

/** Ends the faults of the object store. Requests that hang are disconnected, and engines repeat them. */
function letStore(): void {
  cluster.storage.heal();
  cluster.storage.hangUp();
}

/** Asks for a clip. Resolves with its id, and the engine that makes it and cannot store it. */
async function pausedClip(of = parentId): Promise<{ id: string; engine: ServiceProcess }> {
  cluster.storage.inject('PutObject', 'hang');
  cluster.storage.inject('CreateUpload', 'hang');
  const { id } = await cluster.api.client.clips.create(of, PART);
  const engine = await until(async () =>
    cluster.engines.find((each) => logged([each], 'task.started').some(({ videoId }) => videoId === id)),
  );
  if (engine === undefined) throw new Error('No engine has begun the clip');
  return { id, engine };
}

describe('a clip becomes ready', () => {
  test('after its engine was killed', async () => {
    const { id, engine } = await pausedClip();
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    await cluster.api.client.videos.waitUntilReady(id);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('after all control planes were killed', async () => {
    const { id } = await pausedClip();
    await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
    letStore();
    await Promise.all(cluster.controlPlanes.map((each) => each.start()));
    await cluster.api.client.videos.waitUntilReady(id);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });
});

test('a clip whose parent is deleted while an engine makes it fails, and leaves nothing behind', async () => {
  const otherId = await readyVideo();
  const { id } = await pausedClip(otherId);
  await cluster.api.client.videos.delete(otherId);
  letStore();
  expect(await cluster.api.video(id)).toMatchObject({
    status: 'failed',
    error: { code: 'clip_source_deleted' },
  });
  expect(await violationsAtRest(cluster)).toEqual([]);
});
