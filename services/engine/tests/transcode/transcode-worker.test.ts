import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@framelane/contracts/ids';
import { makeClip } from '@framelane/test-kit/clips';
import { isStopped, processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { WorkLease } from '../../src/transcode/work-lease.ts';
import { expectHlsRules, playable } from '../support/hls-rules.ts';
import { ffprobe, firstFrame } from '../support/media.ts';
import { VideoServer } from '../support/video-server.ts';
import { WorkerBench } from '../support/worker-bench.ts';

/** Takes some seconds with a slow preset. The codec rules out a stream copy. */
const LONG_CLIP = { video: 'testsrc2=s=320x240:r=15:d=30', options: ['-c:v', 'mpeg4'] };

afterEach(() => void jest.restoreAllMocks());

describe('a transcode worker', () => {
  let bench: WorkerBench;

  beforeAll(async () => {
    bench = await WorkerBench.start();
  });
  afterAll(() => bench.stop());

  const jobs = () => readdir(join(bench.workDir, 'jobs'));

  test('transcodes a video to an encrypted ladder with a manifest', async () => {
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), {
      video: 'testsrc2=s=240x240:r=25:d=13,pad=854:480',
      audio: 'sine=r=44100:d=13',
      options: ['-c:a', 'aac', '-metadata:s:a:0', 'language=por'],
    });
    const { videoId, manifest } = await bench.transcode(clip);

    expect(manifest).toMatchObject({
      source: {
        container: 'mp4',
        videoCodec: 'h264',
        audioCodec: 'aac',
        width: 854,
        height: 480,
        frameRate: 25,
        duration: 13,
      },
      duration: 13,
      inputIssues: [],
      renditions: [
        { name: '360p', width: 640, height: 360, frameRate: 25, channels: null },
        { name: '480p', width: 854, height: 480, frameRate: 25, channels: null },
        { name: 'audio', codecs: 'mp4a.40.2', width: null, frameRate: null, channels: 1, language: 'pt' },
      ],
    });
    expect(manifest.renditions[0]?.segments.map(({ duration }) => duration)).toEqual([2, 2, 4, 5]);
    await expectHlsRules(bench, videoId, manifest);
    expect(await jobs()).toEqual([]);
  });

  test.each([
    ['is encoded', 'bt709', ['-c:v', 'mpeg4']],
    ['passes through', 'smpte170m', ['-b:v', '300k']],
  ])('tags untagged video that %s', async (what, colour, options) => {
    const clip = await makeClip(join(bench.directory, `${what}.mp4`), {
      video: 'testsrc2=s=640x360:r=25:d=1',
      options,
    });
    const { videoId, manifest } = await bench.transcode(clip);
    const [rendition] = manifest.renditions;
    if (!rendition) throw new Error('There is no rendition');
    const segment = await playable(bench, videoId, rendition, [0]);
    const path = join(bench.directory, 'segment.ts');
    await writeFile(path, segment);
    const { streams } = await ffprobe<{ streams: { level: number }[] }>('-show_streams', path);
    expect(streams).toMatchObject([
      {
        codec_name: 'h264',
        width: 640,
        height: 360,
        pix_fmt: 'yuv420p',
        sample_aspect_ratio: '1:1',
        color_space: colour,
        color_transfer: colour,
        color_primaries: colour,
      },
    ]);
    expect(rendition.codecs.slice(-2)).toBe(streams[0]?.level.toString(16));
  });

  test.each([
    ['copy', ['-c:v', 'libx264', '-b:v', '2M']],
    ['encoded', ['-c:v', 'mpeg4', '-q:v', '4']],
  ])('makes four renditions of the same colours if the highest one is %s', async (what, codec) => {
    const clip = await makeClip(join(bench.directory, `colours-${what}.mp4`), {
      video: 'color=0xf0e0c0:s=1920x1080:r=50:d=0.4',
      options: [
        ...codec,
        '-vf',
        'scale=out_color_matrix=bt709',
        '-colorspace',
        'bt709',
        '-pix_fmt',
        'yuv420p',
      ],
    });
    const { videoId, manifest } = await bench.transcode(clip);
    await expectHlsRules(bench, videoId, manifest);
    expect(bench.copiesVideo.has(videoId)).toBe(what === 'copy');
    expect(manifest.renditions.map(({ height, frameRate }) => [height, frameRate])).toEqual([
      [360, 25],
      [480, 25],
      [720, 50],
      [1080, 50],
    ]);
    const source = await firstFrame(clip);
    for (const rendition of manifest.renditions) {
      const segment = await playable(bench, videoId, rendition, [0]);
      const path = join(bench.directory, `${what}-${rendition.name}.ts`);
      await writeFile(path, segment);
      const { streams } = await ffprobe<{ streams: object[] }>('-show_streams', path);
      expect(streams).toMatchObject([{ pix_fmt: 'yuv420p', color_space: 'bt709', color_range: 'tv' }]);
      const frame = await firstFrame(path);
      for (const at of [0, 1, 2]) {
        expect(Math.abs((frame[at] ?? 0) - (source[at] ?? 0))).toBeLessThan(8);
      }
    }
  });

  test('logs the start and the end of a try', async () => {
    const clip = await makeClip(join(bench.directory, 'logged.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const info = jest.spyOn(bench.logger, 'info');
    const { videoId } = await bench.transcode(clip);
    const facts = { videoId, attempt: 1, task: 0, try: 1, kind: 'plan' };
    const calls: unknown[][] = info.mock.calls;
    expect(calls.filter(([event]) => /^task\./.test(String(event)))).toEqual([
      ['task.started', { ...facts, bytes: (await stat(clip)).size }],
      ['task.finished', { ...facts, seconds: expect.any(Number) }],
    ]);
  });

  test('retries a failed download of the source a limited number of times', async () => {
    const clip = await makeClip(join(bench.directory, 'fetched.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    bench.brokenFetches = 1;
    await bench.transcode(clip);
    bench.brokenFetches = Number.POSITIVE_INFINITY;
    expect(await bench.refuse(clip)).toMatchObject({ code: 'storage_failed', retryable: true });
    bench.brokenFetches = 0;
  });

  test('drops a command if there is nothing to claim', async () => {
    const clip = await makeClip(join(bench.directory, 'again.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    const { videoId } = await bench.transcode(clip);
    const rejected = bench.warningsOf('message.rejected');
    await bench.command(videoId);
    await bench.transcode(clip);
    expect(bench.results(videoId)).toHaveLength(1);
    expect(rejected).toEqual([]);
  });

  test('renews the lease of a try only until the try ends', async () => {
    const ends = jest.spyOn(WorkLease.prototype, 'stop');
    const clip = await makeClip(join(bench.directory, 'ends.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const { videoId } = await bench.transcode(clip);
    expect([...bench.planHashes]).toContainEqual([videoId, undefined]);
    expect(ends).toHaveBeenCalledTimes(1);
    bench.refuseSegments = true;
    await bench.refuse(clip);
    bench.refuseSegments = false;
    expect(ends).toHaveBeenCalledTimes(2);
  });

  /** Seems to allow a stream copy: only its second segment shows that its key frames are not IDR. */
  const clipWithoutIdr = () =>
    makeClip(join(bench.directory, 'no-idr.mp4'), {
      video: 'testsrc2=s=320x240:r=25:d=8',
      options: ['-preset', 'veryfast', '-g', '50', '-sc_threshold', '0', '-intra-refresh', '1', '-bf', '0'],
    });

  /** Runs a function when the copy of a video has failed, before the next plan is stored. */
  function onCopyFailure(run: () => void): void {
    jest.spyOn(bench.logger, 'warn').mockImplementation(((event: string) => {
      if (event === 'transcode.copy_failed') run();
      return bench.logger;
    }) as unknown as typeof bench.logger.warn);
  }

  function refusePlans(): void {
    bench.isCurrent = false;
  }

  test('replaces the plan of a video whose stream copy fails', async () => {
    const videoId = await bench.store(await clipWithoutIdr());
    const isCopy = () => bench.plans.get(videoId)?.encode.copiesVideo;
    const before: unknown[] = [];
    onCopyFailure(() => before.push(isCopy()));
    bench.hashSource = true;
    await bench.command(videoId);
    await expectHlsRules(bench, videoId, await bench.manifest(videoId));
    bench.hashSource = false;
    expect([before, isCopy()]).toEqual([[true], false]);
    expect(bench.planHashes.get(videoId)).toMatch(/^[0-9a-f]{64}$/);
    expect(bench.results(videoId)).toHaveLength(1);
  });

  test.each([
    ['first', refusePlans],
    ['next', () => onCopyFailure(refusePlans)],
  ])('ends a try without a result if its %s plan is refused', async (which, refusePlan) => {
    const abandoned = () => bench.metric('framelane_engine_transcodes_total{outcome="abandoned",code=""}');
    const before = (await abandoned()) ?? 0;
    refusePlan();
    const videoId = await bench.submit(await clipWithoutIdr());
    await until(async () => (await abandoned()) === before + 1);
    expect(bench.refusedPlans.has(videoId)).toBe(true);
    expect(bench.plans.get(videoId)?.encode.copiesVideo).toBe(which === 'next' ? true : undefined);
    bench.isCurrent = true;
    // The next try begins after the end of this one.
    await bench.transcode(
      await makeClip(join(bench.directory, 'end.mp4'), { video: 'testsrc2=s=64x64:d=1' }),
    );
    expect(bench.results(videoId)).toEqual([]);
    expect(await bench.stored(videoId)).toEqual([]);
    expect(await jobs()).toEqual([]);
  });
});

test('a try whose plan is invalid fails: the control plane would never accept it', async () => {
  const bench = await WorkerBench.start({ threads: 1.5 });
  try {
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    expect(await bench.refuse(clip)).toMatchObject({ code: 'internal_error', retryable: true });
    expect(bench.plans.size).toBe(0);
  } finally {
    await bench.stop();
  }
});

test('a worker can be stopped while it waits for the control plane', async () => {
  const bench = await WorkerBench.start();
  try {
    bench.isUnreachable = true;
    const failedClaims = bench.warningsOf('work.request_failed');
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const videoId = await bench.submit(clip);
    await until(() => failedClaims[0]);
    expect(failedClaims[0]).toMatchObject({ videoId });
    await bench.worker.stop();
    expect(bench.results(videoId)).toEqual([]);
  } finally {
    await bench.stop();
  }
});

describe('a running try', () => {
  let bench: WorkerBench;
  let clip: string;

  beforeAll(async () => {
    // One thread makes the run long enough for the tests without using more CPU time.
    bench = await WorkerBench.start({ preset: 'veryslow', threads: 1 });
    clip = await makeClip(join(bench.directory, 'long.mp4'), LONG_CLIP);
  });
  afterAll(() => bench.stop());

  const expectNothingLeft = async (videoId: string) => {
    expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
    expect(await processesUsing(bench.workDir)).toEqual([]);
    expect(await bench.stored(videoId)).toEqual([]);
  };

  test('is abandoned without a result if it is obsolete', async () => {
    const videoId = await bench.submit(clip);
    await until(async () => (await bench.stored(videoId)).length > 0);
    const programs = await processesUsing(bench.workDir);
    expect(programs).not.toEqual([]);
    // Otherwise a fast machine could complete the video before the engine learns that the try is obsolete.
    for (const { pid } of programs) process.kill(pid, 'SIGSTOP');
    bench.isCurrent = false;
    await until(async () => (await processesUsing(bench.workDir)).length === 0);
    bench.isCurrent = true;
    // The next transcode starts after the cleanup.
    const next = await makeClip(join(bench.directory, 'next.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    await bench.transcode(next);
    expect(bench.results(videoId)).toEqual([]);
    expect(await bench.metric('framelane_engine_transcodes_total{outcome="abandoned",code=""}')).toBe(1);
    await expectNothingLeft(videoId);
  });

  test('has stored most segments when ffmpeg ends', async () => {
    const small = { ...LONG_CLIP, video: 'testsrc2=s=160x120:r=15:d=30' };
    const videoId = await bench.store(await makeClip(join(bench.directory, 'small.mp4'), small));
    const { promise, resolve } = Promise.withResolvers<string[]>();
    jest.spyOn(bench.logger, 'info').mockImplementation(((event: string) => {
      if (event === 'transcode.ffmpeg_ended') resolve(bench.stored(videoId));
      return bench.logger;
    }) as unknown as typeof bench.logger.info);
    await bench.command(videoId);
    const { renditions } = await bench.manifest(videoId);
    const segments = renditions.flatMap(({ segments }) => segments).length;
    expect((await promise).length).toBeGreaterThan(segments / 2);
  });

  test('fails and can be retried if the object store fails', async () => {
    bench.refuseSegments = true;
    const videoId = await bench.submit(clip);
    expect(await bench.failure(videoId)).toMatchObject({ code: 'storage_failed', retryable: true });
    bench.refuseSegments = false;
    await expectNothingLeft(videoId);
  });

  test('fails and can be retried when the engine stops', async () => {
    const videoId = await bench.submit(clip);
    await until(async () => (await bench.stored(videoId)).length > 0);
    // The engine reports progress during the encode, which renews the lease.
    await until(async () => bench.progress(videoId).some((fraction) => fraction > 0 && fraction < 1));
    await bench.worker.stop();
    expect(await bench.failure(videoId)).toMatchObject({ code: 'engine_stopped', retryable: true });
    await expectNothingLeft(videoId);
  });
});

test('the start removes what an earlier run left: its sandboxes and the files of its jobs', async () => {
  const bench = await WorkerBench.start();
  await bench.worker.stop();
  const source = join(bench.workDir, 'jobs/job-1/source');
  await mkdir(source, { recursive: true });
  // Looks like a sandbox of an earlier run: named bwrap, with a path of the work directory in its arguments.
  const orphan = spawn('sh', ['-c', 'echo; read input', 'sh', source], { argv0: 'bwrap', stdio: 'pipe' });
  await once(orphan.stdout, 'data');
  const ended = once(orphan, 'exit');
  await bench.worker.start();
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
  await bench.stop();
});

test('a source that does not fit on the disk costs no attempt, and its video waits until it fits', async () => {
  const bench = await WorkerBench.start();
  const refusals = bench.warningsOf('work.insufficient_disk_space');
  try {
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    bench.commandedBytes = Number.MAX_SAFE_INTEGER;
    const videoId = await bench.submit(clip);
    // Requeued once for another engine, then dropped.
    await until(() => refusals.length === 2);
    bench.commandedBytes = undefined;
    const { videoId: fits } = await bench.transcode(clip);
    expect(bench.results(fits)).toHaveLength(1);
    expect([bench.results(videoId), refusals.length]).toEqual([[], 2]);

    bench.commandedBytes = Number.MAX_SAFE_INTEGER;
    bench.waitingSince = new Date(Date.now() - 25 * 3_600_000);
    await bench.command(videoId);
    await until(() => refusals.length === 4);
    const { waitedSeconds } = refusals.at(-1) as { waitedSeconds: number };
    expect(waitedSeconds).toBeGreaterThanOrEqual(25 * 3600);
    expect(waitedSeconds).toBeLessThan(26 * 3600);
    expect(await bench.metric('framelane_engine_disk_refusals_total{command="plan"}')).toBe(4);
    expect(bench.results(videoId)).toEqual([]);
    bench.commandedBytes = undefined;
    await bench.command(videoId);
    await bench.manifest(videoId);
  } finally {
    await bench.stop();
  }
});

test('a derivation that does not fit on the disk is reported when its command is dropped; a video is not', async () => {
  const bench = await WorkerBench.start();
  const refusals = bench.warningsOf('work.insufficient_disk_space');
  const failures = bench.warningsOf('work.request_failed');
  try {
    const inputBytes = Number.MAX_SAFE_INTEGER;
    bench.commandedBytes = inputBytes;
    const videoId = newId('vid');
    await bench.command(videoId, 'plan');
    await until(() => refusals.length === 2);
    await bench.command(videoId, 'derive');
    await until(() => bench.withoutRoom.length === 1);
    expect(bench.withoutRoom).toEqual([{ videoId, command: 'derive', inputBytes }]);
    expect(refusals).toHaveLength(4);
    bench.isUnreachable = true;
    await bench.command(videoId, 'derive');
    await until(() => failures.length === 1);
    expect(bench.withoutRoom).toHaveLength(1);
  } finally {
    await bench.stop();
  }
});

test('two slots do not reserve the same disk space', async () => {
  const bench = await WorkerBench.start({ slots: 2, limits: { reservedDiskBytes: 0 } });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  try {
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    const fetchToFile = bench.objects.fetchToFile.bind(bench.objects);
    const fetches: string[] = [];
    bench.objects.fetchToFile = async (key, path, signal) => {
      fetches.push(key);
      await gate;
      return fetchToFile(key, path, signal);
    };
    const { bavail, bsize } = await statfs(bench.directory);
    // The source is a hard link, so the engine reserves space only for segments: 20 % of the source size. Two reservations of 60 % of
    // the free space do not fit.
    bench.commandedBytes = Math.floor((0.6 * bavail * bsize) / 0.2);
    const refusals = bench.warningsOf('work.insufficient_disk_space');
    const [first, second] = [await bench.submit(clip), await bench.submit(clip)];
    await until(() => refusals.length === 2);
    expect(fetches).toHaveLength(1);
    open();
    await Promise.race([bench.manifest(first), bench.manifest(second)]);
    expect([...bench.results(first), ...bench.results(second)]).toHaveLength(1);
  } finally {
    // Otherwise the worker could not stop after a failure.
    open();
    await bench.stop();
  }
});

test.each([
  ['work directory has less than its reserve free', { reservedDiskBytes: Number.MAX_SAFE_INTEGER }, null],
  ['objects is full, even if sources are copied to another disk', {}, { freeBytes: 49, totalBytes: 1000 }],
])('no job starts while the disk of the %s', async (_, limits, objectsDisk) => {
  const bench = await WorkerBench.start({ copies: true, limits });
  try {
    if (objectsDisk !== null) bench.objects.diskSpace = async () => objectsDisk;
    const pauses = bench.warningsOf('commands.paused');
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    const waiting = await bench.submit(clip);
    await until(() => pauses[0]);
    expect([bench.results(waiting), bench.fetches]).toEqual([[], 0]);
  } finally {
    await bench.stop();
  }
});

test('no job starts while the disk of the objects has less than its reserve free', async () => {
  const bench = await WorkerBench.start();
  try {
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=1' });
    // The reserve is 5 % of the disk: 50 bytes.
    const disk = { freeBytes: 51, totalBytes: 1000 };
    bench.objects.diskSpace = async () => ({ ...disk });
    // The source is a hard link, so only its segments need disk space.
    bench.commandedBytes = 5;
    await bench.transcode(clip);
    // There is space for one reservation, so this job can only run because the first has released its own.
    await bench.transcode(clip);

    disk.freeBytes = 49;
    const { fetches } = bench;
    const pauses = bench.warningsOf('commands.paused');
    const waiting = await bench.submit(clip);
    await until(() => pauses[0]);
    expect([bench.results(waiting), bench.fetches]).toEqual([[], fetches]);
    disk.freeBytes = 51;
    await bench.manifest(waiting);
  } finally {
    await bench.stop();
  }
});

test.each(['jobs', 'tools'])(
  'a folder %s that others can write to is refused and not changed',
  async (name) => {
    let folder = '';
    const starting = (mode: number) =>
      WorkerBench.start({
        prepare: async (directory) => {
          folder = join(directory, 'work', name);
          await mkdir(folder, { recursive: true });
          await writeFile(join(folder, 'existing'), '');
          // As a volume of Kubernetes, in which the engine creates its folders.
          await chmod(join(directory, 'work'), 0o2777);
          await chmod(folder, mode);
        },
      });
    await expect(starting(0o770)).rejects.toThrow(`other users can write to ${folder}`);
    expect(await readdir(folder)).toEqual(['existing']);
    await rm(join(folder, '../..'), { recursive: true });
    await (await starting(0o750)).stop();
  },
);

test('ffmpeg pauses while the object store is slow, and continues afterwards', async () => {
  const bench = await WorkerBench.start({ preset: 'slow' });
  try {
    const takeSegments = bench.holdSegments();
    const clip = await makeClip(join(bench.directory, 'clip.mp4'), {
      video: 'testsrc2=s=64x36:r=10:d=900',
      options: ['-c:v', 'mpeg4'],
    });
    const videoId = await bench.submit(clip);
    const isPaused = async () => {
      const running = await processesUsing(bench.workDir);
      return (await Promise.all(running.map(({ pid }) => isStopped(pid)))).includes(true);
    };
    await until(isPaused);
    expect(await bench.stored(videoId)).toEqual([]);
    // Reports continue during the pause, because they renew the lease.
    const before = bench.progress(videoId).length;
    await until(() => bench.progress(videoId).length > before + 1);
    takeSegments();
    const manifest = await bench.manifest(videoId);
    const fractions = bench.progress(videoId);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    await expectHlsRules(bench, videoId, manifest);
    expect(manifest.duration).toBe(900);
  } finally {
    await bench.stop();
  }
});

test('the declared bit rates of a video with a complex part match its segments', async () => {
  const bench = await WorkerBench.start();
  const clip = await makeClip(join(bench.directory, 'heavy.mp4'), {
    video:
      'color=gray:s=320x240:r=25:d=12[light];testsrc2=s=320x240:r=25:d=6,noise=alls=60:allf=t[heavy];' +
      '[light][heavy]concat',
    audio: 'sine=d=18',
    options: ['-c:v', 'mpeg4', '-q:v', '4'],
  });
  const { videoId, manifest } = await bench.transcode(clip);
  const server = await VideoServer.start(bench, videoId, manifest);
  try {
    const fetched = async (path: string) => (await fetch(new URL(path, server.url))).text();
    /** Bit rates of the stored segments, with the durations of the playlist. */
    const measured = async (name: string) => {
      const lines = (await fetched(`${name}/index.m3u8`)).matchAll(/^#EXTINF:([\d.]+),$/gm);
      const seconds = [...lines].map(([, duration]) => Number(duration));
      const bytes = await Promise.all(
        seconds.map(
          async (_, at) => (await bench.objects.head(bench.segmentKey(videoId, name, at)))?.bytes ?? 0,
        ),
      );
      const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
      return {
        // Of the segments that last about the target duration (RFC 8216 §4.1).
        peak: Math.max(
          ...seconds.map((duration, at) => (duration < 3 ? 0 : (8 * (bytes[at] ?? 0)) / duration)),
        ),
        average: (8 * sum(bytes)) / sum(seconds),
      };
    };
    const [video, audio] = [await measured('360p'), await measured('audio')];
    expect(video.peak).toBeGreaterThan(2 * video.average);

    const [, peak, average] =
      /BANDWIDTH=(\d+),AVERAGE-BANDWIDTH=(\d+)/.exec(await fetched('master.m3u8')) ?? [];
    expect(Number(peak)).toBeGreaterThanOrEqual(video.peak + audio.peak);
    expect(Number(peak)).toBeLessThan(1.01 * (video.peak + audio.peak));
    expect(Number(average) / (video.average + audio.average)).toBeCloseTo(1, 2);
    await expectHlsRules(bench, videoId, manifest);
  } finally {
    await server.stop();
    await bench.stop();
  }
});
