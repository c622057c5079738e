import { thumbnailUrl } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

let cluster: Cluster;
let clips: Clips;
let video: { id: string; hls: string };
/** Each test asks for another picture: that of the next hundredth of a second. */
let hundredths = 0;

beforeAll(async () => {
  [cluster, clips] = await Promise.all([Cluster.start({ timing: { taskLease: 8 } }), makeClips()]);
  const videoId = await cluster.api.send(clips.short);
  video = await cluster.api.client.videos.waitUntilReady(videoId);
});
afterEach(async () => {
  cluster.heal();
  letStore();
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(() => cluster?.stop());

/** Ends the faults of the object store. Requests that hang are disconnected, and engines repeat them. */
function letStore(): void {
  cluster.storage.heal();
  cluster.storage.hangUp();
}

function nextPicture(): string {
  hundredths += 1;
  return thumbnailUrl(video, { time: hundredths / 100, width: 64 });
}

const startedTries = () => logged(cluster.engines, 'task.started').filter(({ kind }) => kind === 'picture');
const isLastTry = (line: object) => JSON.stringify(line) === JSON.stringify(startedTries().at(-1));

/** Asks for a picture, and resolves with the engine that makes it, and cannot store it. */
async function pausePicture(url: string): Promise<ServiceProcess> {
  const before = startedTries().length;
  cluster.storage.inject('PutObject', 'hang');
  cluster.storage.inject('CreateUpload', 'hang');
  // Its control plane may be killed.
  void fetch(url).catch(() => {});
  await until(() => startedTries().length > before);
  const engine = cluster.engines.find((each) => logged([each], 'task.started').some(isLastTry));
  if (engine === undefined) throw new Error('No engine has begun the picture');
  return engine;
}

/** Asks for a picture until it is there. Each other response says when to ask again. */
async function requirePicture(url: string): Promise<void> {
  await until(async () => {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 503) expect(response.headers.get('retry-after')).not.toBeNull();
    return response?.status === 200 && (await response.arrayBuffer()).byteLength > 0;
  });
  expect(await violationsAtRest(cluster)).toEqual([]);
}

describe('a picture is made', () => {
  test('after its engine was killed', async () => {
    const url = nextPicture();
    const engine = await pausePicture(url);
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    await requirePicture(url);
  });

  test('after all control planes were killed', async () => {
    const url = nextPicture();
    await pausePicture(url);
    await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
    letStore();
    await Promise.all(cluster.controlPlanes.map((each) => each.start()));
    await requirePicture(url);
  });

  test('once, however many requests ask for it', async () => {
    const before = startedTries().length;
    const url = nextPicture();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(url);
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(startedTries()).toHaveLength(before + 1);
  });
});

test('a video that is deleted while its picture is made leaves nothing behind', async () => {
  const id = await cluster.api.send(clips.short);
  const other = await cluster.api.client.videos.waitUntilReady(id);
  await pausePicture(thumbnailUrl(other, { width: 64 }));
  await cluster.api.client.videos.delete(id);
  letStore();
  expect((await fetch(thumbnailUrl(other, { width: 64 }))).status).toBe(404);
  expect(await violationsAtRest(cluster)).toEqual([]);
});
