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
/** Ready. Each test leaves it without downloads. */
let videoId: string;

beforeAll(async () => {
  [cluster, clips] = await Promise.all([Cluster.start({ timing: { taskLease: 8 } }), makeClips()]);
  videoId = await cluster.api.send(clips.short);
  await cluster.api.client.videos.waitUntilReady(videoId);
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

const list = () => cluster.api.client.downloads.list(videoId);
const remove = () => cluster.api.client.downloads.delete(videoId, 'highest');

/** Asks for a download. Resolves with the engine that prepares it, and cannot store it. */
async function pauseDownload(): Promise<ServiceProcess> {
  const before = startedTries().length;
  cluster.storage.inject('PutObject', 'hang');
  cluster.storage.inject('CreateUpload', 'hang');
  await cluster.api.client.downloads.create(videoId, ['highest']);
  await until(() => startedTries().length > before);
  const engine = cluster.engines.find((each) => logged([each], 'task.started').some(isLastTry));
  if (engine === undefined) throw new Error('No engine has begun the download');
  return engine;
}

const startedTries = () => logged(cluster.engines, 'task.started').filter(({ kind }) => kind === 'download');
const isLastTry = (line: object) => JSON.stringify(line) === JSON.stringify(startedTries().at(-1));

/** The file of the download. */
async function fetchFile(): Promise<number> {
  const [download] = await until(async () => {
    const downloads = await list();
    return downloads[0]?.status === 'ready' && downloads;
  });
  const response = await fetch(String(download?.url));
  expect(response.status).toBe(200);
  const { byteLength } = await response.arrayBuffer();
  expect(byteLength).toBe(download?.bytes);
  return byteLength;
}

describe('a download becomes ready', () => {
  test('after its engine was killed', async () => {
    const engine = await pauseDownload();
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    expect(await fetchFile()).toBeGreaterThan(0);
    expect(await violationsAtRest(cluster)).toEqual([]);
    await remove();
  });

  test('after all control planes were killed', async () => {
    await pauseDownload();
    await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
    letStore();
    await Promise.all(cluster.controlPlanes.map((each) => each.start()));
    expect(await fetchFile()).toBeGreaterThan(0);
    expect(await violationsAtRest(cluster)).toEqual([]);
    await remove();
  });

  test('after the broker was cut off', async () => {
    await pauseDownload();
    await cluster.proxies.broker.cut();
    letStore();
    await cluster.proxies.broker.heal();
    expect(await fetchFile()).toBeGreaterThan(0);
    expect(await violationsAtRest(cluster)).toEqual([]);
    await remove();
  });
});

test('a download that is deleted while it is prepared leaves nothing behind', async () => {
  await pauseDownload();
  await remove();
  letStore();
  expect(await list()).toEqual([]);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a download that fails for good does not affect its video', async () => {
  cluster.storage.inject('PutObject', 'error');
  cluster.storage.inject('CreateUpload', 'error');
  await cluster.api.client.downloads.create(videoId, ['highest']);
  const [failed] = await until(async () => {
    const downloads = await list();
    return downloads[0]?.status === 'failed' && downloads;
  });
  expect(failed?.error?.code).toBe('download_failed');
  letStore();
  expect(await cluster.api.video(videoId)).toMatchObject({ status: 'ready', error: null });
  expect(await violationsAtRest(cluster)).toEqual([]);
  await cluster.api.client.downloads.create(videoId, ['highest']);
  expect(await fetchFile()).toBeGreaterThan(0);
  await remove();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
