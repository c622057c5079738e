import { thumbnailUrl } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

let cluster: Cluster;
let file: string;
/** Ready. Each test leaves it without downloads. */
let video: { id: string; hls: string };

beforeAll(async () => {
  const [started, clips] = await Promise.all([
    Cluster.start({ codecs: ['av1'], timing: { taskLease: 8 } }),
    makeClips(),
  ]);
  [cluster, file] = [started, clips.short];
  video = await readyVideo();
});
afterEach(async () => {
  cluster.heal();
  letStore();
  // A test that fails may have left a service killed.
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(() => cluster?.stop());

async function readyVideo() {
  return cluster.api.client.videos.waitUntilReady(await cluster.api.send(file));
}

/** Ends the faults of the object store. Requests that hang are disconnected, and engines repeat them. */
function letStore(): void {
  cluster.storage.heal();
  cluster.storage.hangUp();
}

const startsAt = (engine: ServiceProcess) => logged([engine], 'task.started');

/**
 * Makes a request while no engine can store anything. Resolves with the engine that then begins a task with the facts
 * that `request` returns.
 */
async function pausedAt(request: () => object | Promise<object>): Promise<ServiceProcess> {
  const before = cluster.engines.map((engine) => startsAt(engine).length);
  cluster.storage.inject('PutObject', 'hang');
  cluster.storage.inject('CreateUpload', 'hang');
  const facts = Object.entries(await request());
  return until(() =>
    cluster.engines.find((engine, index) =>
      startsAt(engine)
        .slice(before[index])
        .some((line) => facts.every(([name, value]) => line[name] === value)),
    ),
  );
}

async function restartControlPlanes(): Promise<void> {
  await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
  letStore();
  await Promise.all(cluster.controlPlanes.map((each) => each.start()));
}

describe('downloads', () => {
  const list = () => cluster.api.client.downloads.list(video.id);
  const remove = () => cluster.api.client.downloads.delete(video.id, 'highest');

  /** Asks for a download. Resolves with the engine that prepares it, and cannot store it. */
  function pauseDownload(): Promise<ServiceProcess> {
    return pausedAt(async () => {
      await cluster.api.client.downloads.create(video.id, ['highest']);
      return { kind: 'download' };
    });
  }

  /** Fetches the file of the download, and removes it. */
  async function expectReady(): Promise<void> {
    const [download] = await until(async () => {
      const downloads = await list();
      return downloads[0]?.status === 'ready' && downloads;
    });
    const response = await fetch(String(download?.url));
    expect(response.status).toBe(200);
    const { byteLength } = await response.arrayBuffer();
    expect(byteLength).toBeGreaterThan(0);
    expect(byteLength).toBe(download?.bytes);
    expect(await violationsAtRest(cluster)).toEqual([]);
    await remove();
  }

  test('one whose engine was killed becomes ready', async () => {
    const engine = await pauseDownload();
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    await expectReady();
  });

  test('one becomes ready after all control planes were killed', async () => {
    await pauseDownload();
    await restartControlPlanes();
    await expectReady();
  });

  test('one becomes ready after the broker was cut off', async () => {
    await pauseDownload();
    cluster.proxies.broker.cut();
    letStore();
    cluster.proxies.broker.heal();
    await expectReady();
  });

  test('one that is deleted while it is prepared leaves nothing behind', async () => {
    await pauseDownload();
    await remove();
    letStore();
    expect(await list()).toEqual([]);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('one that fails for good does not affect its video', async () => {
    cluster.storage.inject('PutObject', 'error');
    cluster.storage.inject('CreateUpload', 'error');
    await cluster.api.client.downloads.create(video.id, ['highest']);
    const [failed] = await until(async () => {
      const downloads = await list();
      return downloads[0]?.status === 'failed' && downloads;
    });
    expect(failed?.error?.code).toBe('download_failed');
    letStore();
    expect(await cluster.api.video(video.id)).toMatchObject({ status: 'ready', error: null });
    expect(await violationsAtRest(cluster)).toEqual([]);
    await cluster.api.client.downloads.create(video.id, ['highest']);
    await expectReady();
    expect(await violationsAtRest(cluster)).toEqual([]);
  });
});

describe('pictures', () => {
  /** Each test asks for another picture: that of the next hundredth of a second. */
  let hundredths = 0;

  function nextPicture(): string {
    hundredths += 1;
    return thumbnailUrl(video, { time: hundredths / 100, width: 64 });
  }

  /** Asks for a picture, and resolves with the engine that makes it, and cannot store it. */
  function pausePicture(url: string): Promise<ServiceProcess> {
    return pausedAt(() => {
      // Its control plane may be killed.
      void fetch(url).catch(() => {});
      return { kind: 'picture' };
    });
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

  test('one is made after its engine was killed', async () => {
    const url = nextPicture();
    const engine = await pausePicture(url);
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    await requirePicture(url);
  });

  test('one is made after all control planes were killed', async () => {
    const url = nextPicture();
    await pausePicture(url);
    await restartControlPlanes();
    await requirePicture(url);
  });

  test('one is made once, however many requests ask for it', async () => {
    const tries = () => cluster.engines.flatMap(startsAt).filter(({ kind }) => kind === 'picture').length;
    const before = tries();
    const url = nextPicture();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(url);
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(tries()).toBe(before + 1);
  });

  test('a video that is deleted while its picture is made leaves nothing behind', async () => {
    const other = await readyVideo();
    await pausePicture(thumbnailUrl(other, { width: 64 }));
    await cluster.api.client.videos.delete(other.id);
    letStore();
    expect((await fetch(thumbnailUrl(other, { width: 64 }))).status).toBe(404);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });
});

describe('clips', () => {
  /** Within the only segments of a short video. */
  const PART = { start: 0.2, end: 0.8 };

  /** Asks for a clip. Resolves with its id, and the engine that makes it and cannot store it. */
  async function pausedClip(parentId = video.id): Promise<{ id: string; engine: ServiceProcess }> {
    let id = '';
    const engine = await pausedAt(async () => {
      ({ id } = await cluster.api.client.clips.create(parentId, PART));
      return { videoId: id };
    });
    return { id, engine };
  }

  test('one whose engine was killed becomes ready', async () => {
    const { id, engine } = await pausedClip();
    await engine.end('SIGKILL');
    letStore();
    await engine.start();
    await cluster.api.client.videos.waitUntilReady(id);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('one becomes ready after all control planes were killed', async () => {
    const { id } = await pausedClip();
    await restartControlPlanes();
    await cluster.api.client.videos.waitUntilReady(id);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('one whose parent is deleted while an engine makes it fails, and leaves nothing behind', async () => {
    const parent = await readyVideo();
    const { id } = await pausedClip(parent.id);
    await cluster.api.client.videos.delete(parent.id);
    letStore();
    expect(await cluster.api.video(id)).toMatchObject({
      status: 'failed',
      error: { code: 'clip_source_deleted' },
    });
    expect(await violationsAtRest(cluster)).toEqual([]);
  });
});
