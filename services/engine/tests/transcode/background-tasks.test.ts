import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import type { MessageOf } from '@framelane/contracts/messages';
import { PLANNING_TASK, taskNumber } from '@framelane/contracts/outputs/tasks';
import { PACKAGING_OF_ALTERNATIVES } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS } from '@framelane/contracts/renditions';
import { makeClip } from '@framelane/test-kit/clips';
import { processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { LOWEST_PRIORITY } from '../../src/sandbox/launch-script.ts';
import { WorkerBench } from '../support/worker-bench.ts';

type Completed = MessageOf<'task.completed'>;
type Failed = MessageOf<'task.failed'>;

const [CODEC] = ALTERNATIVE_CODECS;

let bench: WorkerBench;
let short: string;
beforeEach(async () => {
  bench = await WorkerBench.start();
  bench.packaging = PACKAGING_OF_ALTERNATIVES;
  bench.codecs = [CODEC];
  short = await makeClip(join(bench.directory, 'short.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await bench.stop();
});

/** The results of a task. */
const eventsOf = <T extends Completed | Failed>(type: T['type'], videoId: string, task: number) =>
  bench.events.filter(
    (event): event is T => event.type === type && event.data.videoId === videoId && event.data.task === task,
  );

/** A ready video whose optional task waits for a command. */
async function readyVideo(): Promise<{ videoId: string; task: number }> {
  const { videoId } = await bench.transcode(short);
  expect(bench.plans.get(videoId)?.optionalTasks).toMatchObject([{ kind: 'codec_piece', codec: CODEC }]);
  return { videoId, task: taskNumber(0) };
}

test.each([
  ['sdr', undefined],
  ['keep', { range: 'hlg' }],
] as const)(
  'the claim of the planning says what the plan does with high dynamic range: %s',
  async (hdr, tenBit) => {
    bench.hdr = hdr;
    const tags = 'range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc=arib-std-b67';
    const clip = await makeClip(join(bench.directory, 'hlg.mp4'), {
      video: 'testsrc2=s=64x64:r=25:d=1',
      options: ['-vf', `setparams=${tags}`, '-pix_fmt', 'yuv420p10le'],
    });
    const { videoId } = await bench.transcode(clip);
    const ladders = bench.plans.get(videoId)?.alternatives;
    expect(ladders?.map((ladder) => [ladder.codec, ladder.tenBit])).toEqual([[CODEC, tenBit]]);
  },
);

/** From now on, the object store stores no segment of that video until the returned function is called. */
function holdSegmentsOf(videoId: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const putStream = bench.objects.putStream.bind(bench.objects);
  bench.objects.putStream = async (key, ...rest) => {
    if (key.includes(videoId)) await promise;
    return putStream(key, ...rest);
  };
  return resolve;
}

/** A long video that the worker has planned. */
async function plannedVideo(): Promise<string> {
  bench.pieceSeconds = 6;
  const path = await makeClip(join(bench.directory, 'long.mp4'), {
    video: 'testsrc2=s=64x64:r=25:d=20',
    options: ['-c:v', 'mpeg4', '-g', '25'],
  });
  const videoId = await bench.submit(path);
  await until(() => bench.plans.get(videoId));
  bench.pieceSeconds = null;
  return videoId;
}

/** Whether an event is the result of a task, or of any task of the video. */
const isCompleted = (videoId: string, task?: number) => (event: WorkerBench['events'][number]) =>
  event.type === 'task.completed' &&
  event.data.videoId === videoId &&
  (task === undefined || event.data.task === task);

test.each(['plan', 'task'] as const)('an optional task begins when no %s is in progress', async (command) => {
  const { videoId, task } = await readyVideo();
  const other = command === 'plan' ? await bench.store(short) : await plannedVideo();
  const storeSegments = bench.holdSegments();
  await bench.command(other, command);
  // The planning of a long video may have reported progress before.
  const begun = command === 'plan' ? PLANNING_TASK : taskNumber(0);
  await until(() =>
    bench.events.some(
      ({ type, data }) => type === 'task.progress' && data.videoId === other && data.task === begun,
    ),
  );
  await bench.command(videoId, 'background');
  // Reports that renew the lease, one second after another: the optional task would have been claimed by then.
  const before = bench.progress(other).length;
  await until(() => bench.progress(other).length > before + 1);
  expect(bench.claimedTasks.get(videoId)).toBeUndefined();
  storeSegments();
  const [done] = await until(() => {
    const events = eventsOf<Completed>('task.completed', videoId, task);
    return events.length > 0 && events;
  });
  expect(done?.data.result.renditions?.map(({ name }) => name)).toEqual([`360p-${CODEC}`]);
  expect(bench.events.findIndex(isCompleted(other))).toBeLessThan(
    bench.events.findIndex(isCompleted(videoId, task)),
  );
});

test('nothing waits for a running optional task: a new video is planned and made, and so are the tasks of a long one', async () => {
  const { videoId, task } = await readyVideo();
  const storeSegments = holdSegmentsOf(videoId);
  await bench.command(videoId, 'background');
  await until(() => bench.claimedTasks.get(videoId));
  const { videoId: next } = await bench.transcode(short);
  expect(bench.results(next)).toHaveLength(1);
  const long = await plannedVideo();
  const { tasks = [] } = bench.plans.get(long) ?? {};
  expect(tasks.length).toBeGreaterThan(2);
  for (const _ of tasks) await bench.commandTask(long);
  await until(() => bench.events.filter(isCompleted(long)).length === tasks.length);
  expect(eventsOf<Completed>('task.completed', videoId, task)).toEqual([]);
  storeSegments();
  await until(() => eventsOf<Completed>('task.completed', videoId, task)[0]);
});

/** How far the programs of the worker stand back for other processes. */
async function nicenesses(): Promise<number[]> {
  const running = await processesUsing(bench.workDir);
  const stats = await Promise.all(
    running.map(({ pid }) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
  );
  // The field 19 (proc(5)). The name before the state may contain spaces and brackets.
  return stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
}

test('ffmpeg of an optional task has the lowest priority, and ffmpeg of a video another one', async () => {
  const own = getPriority();
  const path = await makeClip(join(bench.directory, 'longer.mp4'), {
    video: 'testsrc2=s=64x64:r=10:d=300',
    options: ['-c:v', 'mpeg4'],
  });
  const videoId = await bench.store(path);
  // ffmpeg is stopped when it is far ahead of the object store.
  const storeSegments = bench.holdSegments();
  await bench.command(videoId);
  const ofVideo = await until(async () => (await nicenesses()).filter((niceness) => niceness > own)[0]);
  expect(ofVideo).toBe(Math.min(LOWEST_PRIORITY, own + 10));
  storeSegments();
  await bench.manifest(videoId);
  bench.holdSegments();
  await bench.command(videoId, 'background');
  await until(async () => (await nicenesses()).includes(LOWEST_PRIORITY));
});

test('an optional task that fails is reported, and leaves no objects', async () => {
  const { videoId, task } = await readyVideo();
  const before = await bench.stored(videoId);
  bench.refuseSegments = true;
  await bench.command(videoId, 'background');
  const failure = await until(() => eventsOf<Failed>('task.failed', videoId, task)[0]);
  expect(failure.data).toMatchObject({ try: 1, code: 'storage_failed', retryable: true });
  expect(await bench.stored(videoId)).toEqual(before);
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
});

test('an optional piece that is not as planned fails without a retry', async () => {
  const { videoId, task } = await readyVideo();
  const plan = bench.plans.get(videoId);
  const [piece] = plan?.optionalTasks ?? [];
  if (plan === undefined || piece?.kind !== 'codec_piece') throw new Error('The plan has no such piece');
  bench.plans.set(videoId, { ...plan, optionalTasks: [{ ...piece, segmentStarts: [0, 13] }] });
  await bench.command(videoId, 'background');
  const failure = await until(() => eventsOf<Failed>('task.failed', videoId, task)[0]);
  expect(failure.data).toMatchObject({ code: 'internal_error', retryable: false });
});

test('an engine that stops hands an optional task back', async () => {
  const { videoId, task } = await readyVideo();
  const storeSegments = bench.holdSegments();
  await bench.command(videoId, 'background');
  await until(() => bench.claimedTasks.get(videoId));
  const stopped = bench.worker.stop();
  storeSegments();
  const failure = await until(() => eventsOf<Failed>('task.failed', videoId, task)[0]);
  expect(failure.data).toMatchObject({ code: 'engine_stopped', retryable: true });
  await stopped;
});
