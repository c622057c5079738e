import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hardware } from '@framelane/contracts/hardware';
import { PACKAGING_NAMES } from '@framelane/contracts/packaging';
import { makeClip } from '@framelane/test-kit/clips';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FAKE_DEVICE, FakeDeviceFfmpeg } from '../support/fake-device.ts';
import { expectHlsRules } from '../support/hls-rules.ts';
import { ffprobe } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let fake: FakeDeviceFfmpeg;
beforeAll(async () => {
  fake = await FakeDeviceFfmpeg.install();
});
afterAll(() => fake.uninstall());

function startEngine(
  kind: Hardware,
  { device = FAKE_DEVICE }: { device?: string } = {},
): Promise<WorkerBench> {
  return WorkerBench.start({ sandbox: 'none', hardware: { kind, device } });
}

/** Is not copied. */
const clipOf = (bench: WorkerBench, size = '640x360', seconds = 5) =>
  makeClip(join(bench.directory, `clip-${size}-${seconds}.mp4`), {
    video: `testsrc2=s=${size}:r=25:d=${seconds}`,
    audio: `sine=r=48000:d=${seconds}`,
    options: ['-c:v', 'mpeg4', '-q:v', '5', '-c:a', 'aac'],
  });

const videosOf = (bench: WorkerBench, outcome: string) =>
  bench.metric(`framelane_engine_device_videos_total{outcome="${outcome}"}`);

test.each([
  ['qsv', 'ts'],
  ['nvenc', 'cmaf'],
] as const)('a video is encoded by %s, as a whole, and packed as %s', async (kind, packaging) => {
  await fake.behave({});
  const bench = await startEngine(kind);
  bench.packaging = packaging;
  try {
    const { videoId, manifest } = await bench.transcode(await clipOf(bench));
    expect(bench.plans.get(videoId)).toMatchObject({ revision: 0, encoder: { hardware: kind }, tasks: [] });
    await expectHlsRules(bench, videoId, manifest);
    expect(await videosOf(bench, 'encoded')).toBe(1);
  } finally {
    await bench.stop();
  }
});

describe('an engine with VAAPI', () => {
  let bench: WorkerBench;
  let failures: object[];
  beforeAll(async () => {
    await fake.behave({});
    bench = await startEngine('vaapi');
    // Software cuts the video into pieces.
    bench.pieceSeconds = 2;
  });
  afterAll(() => bench.stop());
  beforeEach(async () => {
    await fake.behave({});
    failures = bench.warningsOf('transcode.device_failed');
  });

  test('encodes a video as a whole, with the colours that the driver leaves out', async () => {
    const { videoId, manifest } = await bench.transcode(await clipOf(bench, '256x144', 20));
    expect(bench.plans.get(videoId)).toMatchObject({
      revision: 0,
      encoder: { hardware: 'vaapi' },
      tasks: [],
    });
    await expectHlsRules(bench, videoId, manifest);
    expect(manifest.renditions[0]?.segments.map(({ duration }) => duration)).toEqual([2, 2, 4, 6, 6]);
    expect(await videosOf(bench, 'encoded')).toBe(1);
    expect(await bench.metric('framelane_engine_device_ready')).toBe(1);
    const path = await renditionFile(bench, videoId, manifest.renditions[0]);
    const { streams } = await ffprobe<{ streams: object[] }>('-show_streams', path);
    expect(streams).toMatchObject([
      { profile: 'High', color_space: 'bt709', color_transfer: 'bt709', color_primaries: 'bt709' },
    ]);
  });

  test('copies the highest rendition, and encodes the others with its key frames', async () => {
    const clip = await makeClip(join(bench.directory, 'copied.mp4'), {
      video: 'testsrc2=s=854x480:r=25:d=4',
      options: ['-b:v', '300k', '-g', '50'],
    });
    const { videoId, manifest } = await bench.transcode(clip);
    expect(bench.plans.get(videoId)?.encoder.hardware).toBe('vaapi');
    expect(bench.copiesVideo.has(videoId)).toBe(true);
    await expectHlsRules(bench, videoId, manifest);
  });

  test.each([
    ['refuses to begin', { 'job-says': 'Failed to create surface: out of memory' }],
    ['dies after the first segment', { dies: true }],
    ['ends too early without an error', { 'loses-frames': 60 }],
  ] as const)('repeats a video by software if the device %s', async (_, behaviour) => {
    await fake.behave(behaviour);
    const failed = (await videosOf(bench, 'failed')) ?? 0;
    const { videoId, manifest } = await bench.transcode(await clipOf(bench));
    const plan = bench.plans.get(videoId);
    expect(plan).toMatchObject({ revision: 1, tasks: [] });
    expect(plan?.encoder).not.toHaveProperty('hardware');
    await expectHlsRules(bench, videoId, manifest);
    expect(await videosOf(bench, 'failed')).toBe(failed + 1);
    expect(failures).toMatchObject([{ videoId }]);
    // The objects of the device are removed.
    expect((await bench.stored(videoId)).filter((key) => !key.includes('/t0.1/r1/'))).toEqual([]);
  });

  test('probes the device before the next video, and uses it again if it works', async () => {
    const { videoId } = await bench.transcode(await clipOf(bench));
    const sources = (await fake.commands()).map((command) => command.includes('file:source/file'));
    // A probe encodes in each packaging.
    expect(sources).toEqual([...PACKAGING_NAMES.map(() => false), true]);
    expect(bench.plans.get(videoId)?.encoder.hardware).toBe('vaapi');
    expect(await bench.metric('framelane_engine_device_ready')).toBe(1);
  });

  test('lets software encode frames that the device does not', async () => {
    const unfit = (await videosOf(bench, 'unfit')) ?? 0;
    const videoId = await bench.submit(await clipOf(bench, '128x96', 20));
    await until(() => bench.plans.has(videoId));
    expect(bench.plans.get(videoId)?.encoder).not.toHaveProperty('hardware');
    expect(bench.plans.get(videoId)?.tasks).not.toEqual([]);
    expect(await videosOf(bench, 'unfit')).toBe(unfit + 1);
    expect(await fake.commands()).toEqual([]);
  });

  test('lets software encode the second attempt at a video', async () => {
    bench.attempt = 2;
    const { videoId } = await bench.transcode(await clipOf(bench));
    bench.attempt = 1;
    expect(bench.plans.get(videoId)?.encoder).not.toHaveProperty('hardware');
    expect(await fake.commands()).toEqual([]);
  });

  test('says what is wrong with a file that neither can encode, and not that the device is', async () => {
    const path = join(bench.directory, 'broken.mp4');
    await writeFile(path, 'no video');
    expect(await bench.refuse(path)).toMatchObject({ code: 'not_a_video', retryable: false });
  });

  test('refuses the device when it fails the probe after a failure', async () => {
    await fake.behave({ 'job-says': 'Failed to end picture encode issue: 24 (internal encoding error).' });
    await bench.transcode(await clipOf(bench));
    expect(failures).toMatchObject([
      { reason: expect.stringMatching(/^The device failed while it encoded\. ffmpeg: Failed to end/) },
    ]);
    await fake.behave({ says: '[AVHWDeviceContext @ 0x1] No VA display found for device /dev/full.' });
    const refused = (await videosOf(bench, 'refused')) ?? 0;
    for (const count of [1, 2]) {
      const videoId = await bench.submit(await clipOf(bench));
      await until(() => bench.plans.has(videoId));
      expect(bench.plans.get(videoId)?.encoder).not.toHaveProperty('hardware');
      expect(await videosOf(bench, 'refused')).toBe(refused + count);
    }
    expect(bench.worker.hardware).toEqual({
      kind: 'vaapi',
      refusal: expect.stringContaining('finds no VA driver'),
    });
    expect(await bench.metric('framelane_engine_device_ready')).toBe(0);
  });
});

test('an engine whose device is missing starts, and says so', async () => {
  await fake.behave({});
  const bench = await startEngine('vaapi', { device: '/dev/dri/missing' });
  try {
    expect(bench.worker.hardware).toEqual({
      kind: 'vaapi',
      refusal: '/dev/dri/missing does not exist. In a container, pass the device on.',
    });
    const { videoId } = await bench.transcode(await clipOf(bench, '640x360', 1));
    expect(bench.plans.get(videoId)?.encoder).not.toHaveProperty('hardware');
    expect(await fake.commands()).toEqual([]);
  } finally {
    await bench.stop();
  }
});
