import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { loadPresentation } from '@framelane/hls-conformance/load-presentation';
import { addressesOf } from '@framelane/hls-conformance/presentation';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { makeMp4 } from '../src/clips.ts';
import { streamsOf } from '../src/ffprobe.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { storedObjects } from '../src/stored-objects.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const testWithStorage = target.objectsDir === null ? test.skip : test;

let directory: string;
let clip: string;
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-happy-path-'));
  clip = await makeMp4(directory, {
    name: 'holiday',
    width: 854,
    height: 480,
    rate: '25',
    seconds: 8,
    audio: { sampleRate: 48_000, channels: 2 },
  });
  video = await client.publish(clip);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

describe('a ready video', () => {
  test('has complete metadata', async () => {
    const { size } = await stat(clip);
    const sha256 = createHash('sha256')
      .update(await readFile(clip))
      .digest('hex');
    expect(video).toMatchObject({
      workspaceId: target.workspaceId,
      status: 'ready',
      title: 'holiday',
      filename: 'holiday.mp4',
      hls: `${target.baseUrl}/hls/${target.workspaceId}/${video.id}/master.m3u8`,
      variants: ['360p', '480p'],
      width: 854,
      height: 480,
      frameRate: 25,
      size,
      progress: 100,
      error: null,
      source: { videoCodec: 'h264', audioCodec: 'aac', sha256 },
      expiresAt: null,
    });
    expect(Math.abs((video.duration ?? 0) - 8)).toBeLessThanOrEqual(1 / 25);
    expect(video.storageBytes).toBeGreaterThan(size);
    const times = [video.createdAt, video.uploadedAt, video.readyAt].map((time) => Date.parse(time ?? ''));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times).not.toContain(Number.NaN);
  });

  test('matches the API description', async () => {
    const description = await ApiDescription.fetch(target.baseUrl);
    const response = await client.call('GET', `/videos/${video.id}`);
    expect(response.status).toBe(200);
    expect(await description.mismatches('getVideo', response)).toEqual([]);
  });

  test('has its renditions and audio in ffprobe', async () => {
    const streams = await streamsOf(video.hls);
    const videoStreams = streams.filter(({ type }) => type === 'video');
    expect(new Set(videoStreams.map(({ codec, width, height }) => `${codec} ${width}x${height}`))).toEqual(
      new Set(['h264 640x360', 'h264 854x480']),
    );
    const audioStreams = streams.filter(({ type }) => type === 'audio');
    expect(audioStreams.length).toBeGreaterThan(0);
    for (const { codec, channels } of audioStreams) expect([codec, channels]).toEqual(['aac', 2]);
  });

  test.each([
    ['what a player picks', []],
    ['all renditions and the audio', ['-map', '0']],
  ])('is decoded by ffmpeg without errors: %s', async (_what, streams) => {
    const play = ['-nostdin', '-v', 'warning', '-xerror', '-i', video.hls, ...streams, '-f', 'null', '-'];
    expect((await runProgram('ffmpeg', play)).stderr).toBe('');
  });

  testWithStorage('has encrypted segments in storage: exactly the listed ones, and its source', async () => {
    const { renditions, iFrames } = await loadPresentation(video.hls);
    const listed = [...renditions, ...iFrames].flatMap(({ segments }) =>
      segments.map(({ sha256 }) => sha256),
    );
    const stored = await storedObjects(target.objectsDir ?? '', video.id);
    const sources = stored.filter((key) => key.startsWith('sources/'));
    const segments = stored.filter((key) => key.endsWith('.ts'));
    expect(sources).toHaveLength(1);
    const files = await Promise.all(segments.map((key) => readFile(join(target.objectsDir ?? '', key))));
    const hashes = files.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
    expect(hashes.sort()).toEqual(listed.sort());
  });
});

describe('a deleted video', () => {
  test('responds with 404 at every URL at once, and its objects are purged', async () => {
    const { id, hls } = await client.publish(
      await makeMp4(directory, {
        name: 'gone',
        width: 640,
        height: 360,
        rate: '25',
        seconds: 2,
        audio: null,
      }),
    );
    const urls = addressesOf(await loadPresentation(hls));
    expect(urls.length).toBeGreaterThanOrEqual(4);

    const deletion = await client.delete(id);
    expect([deletion.status, await deletion.text()]).toEqual([204, '']);

    for (const url of urls) {
      const gone = await fetch(url);
      await gone.arrayBuffer();
      // Pages of any origin can read the error.
      expect([gone.status, gone.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
    }
    const again = [await client.call('GET', `/videos/${id}`), await client.delete(id)];
    expect(again.map(({ status }) => status)).toEqual([404, 404]);

    const { objectsDir } = target;
    if (objectsDir === null) return;
    await until(async () => (await storedObjects(objectsDir, id)).length === 0);
  });
});

describe('a video deleted during its transcode', () => {
  /** The engine stops work on a deleted video within this time. */
  const QUIET_MS = 8_000;

  testWithStorage('leaves nothing in storage', async () => {
    const stored = () => storedObjects(target.objectsDir ?? '', ticket.videoId);
    const ticket = await client.requestTicket({ filename: 'short-lived.mp4' });
    expect((await client.upload(ticket, await openAsBlob(clip))).status).toBe(202);
    await until(async () => (await stored()).length > 1);
    expect((await client.delete(ticket.videoId)).status).toBe(204);

    let seen = performance.now();
    await until(async () => {
      if ((await stored()).length > 0) seen = performance.now();
      return performance.now() - seen > QUIET_MS ? true : undefined;
    });
  });
});
