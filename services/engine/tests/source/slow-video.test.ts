import { join } from 'node:path';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';
import { expectHlsRules } from '../support/hls-rules.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { TaskBench } from '../support/task-bench.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const SMALL = 's=320x240';
const VFR = ['-vsync', 'vfr'];

test.each<[name: string, file: string, clip: Clip, seconds: number]>([
  [
    'a slide each five seconds, and sound that goes on for three seconds',
    'slides.mp4',
    { video: `testsrc2=${SMALL}:r=1/5:d=15`, audio: 'sine=d=18' },
    18,
  ],
  [
    'a slide each five seconds, and sound that ends before',
    'short-sound.mp4',
    { video: `testsrc2=${SMALL}:r=1/5:d=15`, audio: 'sine=d=12' },
    15,
  ],
  [
    'a still picture for the first tenth of the sound',
    'still.mkv',
    { video: `testsrc2=${SMALL}:r=1:d=1`, audio: 'sine=d=10' },
    10,
  ],
  [
    'a still picture for one frame of 25 a second',
    'blink.mp4',
    { video: `testsrc2=${SMALL}:r=25:d=0.04`, audio: 'sine=d=10' },
    10,
  ],
  ['a still picture without sound', 'silent.mp4', { video: `testsrc2=${SMALL}:r=1/4:d=4` }, 4],
])('%s', async (_, file, clip, seconds) => {
  const { outcome } = await transcodeByTheRules(bench, await makeClip(inBench(file), clip));
  expect(outcome.rate).toBeGreaterThanOrEqual(10);
  // The frames of AAC move the end of the sound.
  expect(Math.abs(outcome.frames / outcome.rate - seconds)).toBeLessThan(0.11);
});

test('a still picture needs no more memory the longer it is shown', async () => {
  // Its repeated frames alone have 690 MB.
  const limited = await WorkerBench.start({
    preset: 'ultrafast',
    limits: { ...DEFAULT_TRANSCODE_LIMITS, reservedDiskBytes: 0, memoryBytes: 400 * 1024 ** 2 },
  });
  try {
    const still = { video: 'testsrc2=s=640x360:r=1:d=1', audio: 'sine=d=200' };
    const { outcome } = await transcodeByTheRules(limited, await makeClip(inBench('long-still.mp4'), still));
    expect(Math.abs(outcome.frames / outcome.rate - 200)).toBeLessThan(0.11);
  } finally {
    await limited.stop();
  }
});

/** The brightness of each frame of a file, in steps of 40 above 40. */
async function levelsOf(path: string): Promise<number[]> {
  const { stdout } = await runProgram('ffmpeg', [
    ...['-v', 'error', '-i', path],
    ...['-vf', 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-', '-f', 'null', '-'],
  ]);
  return [...stdout.matchAll(/YAVG=(\d+)/g)].map(([, level]) =>
    Math.max(0, Math.round((Number(level) - 40) / 40)),
  );
}

test('slides of any length change when they should, and the last one is shown until the sound ends', async () => {
  const changes = [0, 3.4, 11.2, 11.24];
  // Each slide is brighter than the one before.
  const clip = await makeClip(inBench('lecture.mkv'), {
    video: `color=black:${SMALL}:r=25:d=12,geq=lum='40+40*(gte(T,3.38)+gte(T,11.18)+gte(T,11.22))':cb=128:cr=128,select='${changes
      .map((time) => `eq(n,${Math.round(time * 25)})`)
      .join('+')}'`,
    audio: 'sine=d=20',
    options: [...VFR, '-qp', '1'],
  });
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, clip);
  expect(outcome.frames / outcome.rate).toBeCloseTo(20, 1);
  const [rendition] = manifest.renditions;
  if (!rendition) throw new Error('There is no rendition');
  const levels = await levelsOf(await renditionFile(bench, videoId, rendition));
  const seen = [0, 1, 2, 3].map((slide) => levels.indexOf(slide) / outcome.rate);
  for (const [slide, time] of changes.entries()) {
    expect(Math.abs((seen[slide] ?? Number.NaN) - time)).toBeLessThan(0.5 / outcome.rate + 0.03);
  }
  expect(levels.slice(levels.indexOf(3)).every((level) => level === 3)).toBe(true);
});

test('slides in pieces change when they should', async () => {
  const tasks = await TaskBench.start();
  try {
    const clip = await makeClip(inBench('talk.mkv'), {
      video: `color=black:${SMALL}:r=1/5:d=60,geq=lum='40+40*mod(N,5)':cb=128:cr=128`,
      audio: 'sine=d=90',
      options: ['-g', '1', '-qp', '1'],
    });
    const { video, plan, manifest } = await tasks.transcode(clip, 10);
    expect(plan.tasks.filter(({ kind }) => kind === 'piece').length).toBeGreaterThan(2);
    await expectHlsRules(tasks, video.videoId, manifest);
    const levels = await levelsOf(await renditionFile(tasks, video.videoId, manifest.renditions[0]));
    const { frameRate } = plan.encode;
    const perSlide = (5 * frameRate.numerator) / frameRate.denominator;
    const last = 60 / 5 - 1;
    expect(levels).toEqual(levels.map((_, frame) => Math.min(last, Math.floor(frame / perSlide)) % 5));
    expect(levels.length).toBeGreaterThanOrEqual(89.9 * (perSlide / 5));
  } finally {
    await tasks.stop();
  }
});

test('no piece begins after the last slide', async () => {
  const tasks = await TaskBench.start();
  try {
    const clip = await makeClip(inBench('question.mkv'), {
      video: `testsrc2=${SMALL}:r=1/5:d=30`,
      audio: 'sine=d=90',
      options: ['-g', '1'],
    });
    const { plan } = await tasks.plan(await tasks.store(clip), 40);
    const { numerator, denominator } = plan.encode.frameRate;
    const begins = plan.tasks.flatMap((task) =>
      task.kind === 'piece' ? [(task.firstFrame * denominator) / numerator] : [],
    );
    expect(begins.length).toBeGreaterThan(1);
    expect(Math.max(...begins)).toBeLessThanOrEqual(25);
  } finally {
    await tasks.stop();
  }
});
