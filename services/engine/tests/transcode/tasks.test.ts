import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessageOf } from '@framelane/contracts/messages';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import { PLANNING_TASK, type Task, taskNumber } from '@framelane/contracts/outputs/tasks';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { makeClip } from '@framelane/test-kit/clips';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { lengthOf, union } from '../../src/source/byte-ranges.ts';
import { WorkLease } from '../../src/transcode/work-lease.ts';
import { expectHlsRules } from '../support/hls-rules.ts';
import { madeVideo } from '../support/made-video.ts';
import { WorkerBench } from '../support/worker-bench.ts';

type Completed = MessageOf<'task.completed'>;
type Failed = MessageOf<'task.failed'>;

let bench: WorkerBench;
afterEach(async () => {
  jest.restoreAllMocks();
  await bench?.stop();
});

/** Submits a video that the worker plans. */
async function submitLongVideo(seconds = 20): Promise<string> {
  const clip = await makeClip(join(bench.directory, 'long.mp4'), {
    video: `testsrc2=s=160x120:r=25:d=${seconds}`,
    audio: `sine=d=${seconds}`,
    options: ['-c:v', 'mpeg4', '-g', '25', '-c:a', 'aac'],
  });
  return bench.submit(clip);
}

/** A video that the worker has planned. */
async function plannedVideo(seconds = 20): Promise<{ videoId: string; plan: TranscodePlan }> {
  const videoId = await submitLongVideo(seconds);
  return { videoId, plan: await until(() => bench.plans.get(videoId)) };
}

/** The results of the tasks of a plan. */
const eventsOf = <T extends Completed | Failed>(type: T['type'], videoId: string) =>
  bench.events.filter(
    (event): event is T =>
      event.type === type && event.data.videoId === videoId && event.data.task !== PLANNING_TASK,
  );

/** The failure of the first task of a video. */
async function firstFailure(videoId: string): Promise<Failed['data']> {
  await bench.commandTask(videoId);
  return until(() => eventsOf<Failed>('task.failed', videoId)[0]?.data);
}

/** Starts a task, and waits until the control plane has said that it is no longer current. */
async function runOutdatedTask(videoId: string): Promise<void> {
  const storeSegments = bench.holdSegments();
  bench.isCurrent = false;
  await bench.commandTask(videoId);
  await until(() => bench.taskChecks > 0);
  storeSegments();
}

describe('an engine that can link to sources', () => {
  beforeEach(async () => {
    bench = await WorkerBench.start();
    bench.pieceSeconds = 6;
  });

  test('the first task of a long video ends with the plan, and each command runs one task', async () => {
    const { videoId, plan } = await plannedVideo();
    expect(plan.tasks.map(({ kind }) => kind)).toEqual(['audio', 'piece', 'piece', 'piece', 'images']);
    expect(bench.results(videoId)).toEqual([]);
    const counted = jest.spyOn(bench.metrics, 'taskCompleted');
    const rejected = bench.warningsOf('message.rejected');
    for (const _ of plan.tasks) await bench.commandTask(videoId);
    // One more than there are tasks.
    await bench.commandTask(videoId);
    const done = await until(() => {
      const events = eventsOf<Completed>('task.completed', videoId);
      return events.length === plan.tasks.length && events;
    });
    const manifest = madeVideo(
      plan,
      done.map(({ data }) => data.result),
    );
    expect(manifest.duration).toBe(20);
    // The metric counts each second of the video once.
    await until(() => counted.mock.calls.length === plan.tasks.length);
    expect(counted.mock.calls.reduce((sum, [seconds]) => sum + seconds, 0)).toBeCloseTo(20);
    const segments = [...manifest.renditions, manifest.iFrames].flatMap(
      (rendition) => rendition?.segments ?? [],
    );
    const images = [manifest.poster, manifest.storyboard].filter((image) => image !== null);
    const stored = await bench.stored(videoId);
    expect(stored).toHaveLength(segments.length + images.length);
    // Viewers can begin when the first segment of each rendition is stored.
    const started = Object.assign(
      {},
      ...bench.events.flatMap((event) =>
        event.type === 'task.progress' ? [event.data.startedRenditions] : [],
      ),
    );
    expect(started).toEqual(
      Object.fromEntries(
        manifest.renditions.map(({ name, codecs, initialization }) => [
          name,
          { codecs, ...(initialization !== undefined && { initialization }) },
        ]),
      ),
    );
    // Each try has a folder, and the result says what is in it.
    const folders = new Set(stored.map((key) => key.split('/')[4]));
    expect([...folders].sort()).toEqual(['t1.1', 't2.1', 't3.1', 't4.1', 't5.1']);
    expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
    expect(eventsOf('task.failed', videoId)).toEqual([]);
    expect(rejected).toEqual([]);
    const encodes = 'framelane_engine_transcode_stage_duration_seconds_count{stage="encode"}';
    expect(await bench.metric(encodes)).toBe(plan.tasks.length);
  });

  test('a try that has begun to make all outputs cuts no later plan', async () => {
    // The copy cannot be cut, because it has too few places to begin to read. It fails: its key frames are not IDR.
    const clip = await makeClip(join(bench.directory, 'whole.mp4'), {
      video: 'testsrc2=s=240x240:r=25:d=18.5,pad=854:480',
      options: ['-preset', 'ultrafast', '-g', '160', '-intra-refresh', '1', '-bf', '0'],
    });
    const failures = bench.warningsOf('transcode.copy_failed');
    const { videoId, manifest } = await bench.transcode(clip);
    expect(failures).toHaveLength(1);
    expect(bench.plans.get(videoId)?.tasks).toEqual([]);
    await expectHlsRules(bench, videoId, manifest);
  });

  test('the metric counts a stream copy without pieces once', async () => {
    const clip = await makeClip(join(bench.directory, 'kept.mp4'), {
      video: 'testsrc2=s=160x120:r=25:d=20',
      options: ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25'],
    });
    const videoId = await bench.submit(clip);
    const plan = await until(() => bench.plans.get(videoId));
    expect(plan.tasks.map(({ kind }) => kind)).toEqual(['copy', 'images']);
    const counted = jest.spyOn(bench.metrics, 'taskCompleted');
    for (const _ of plan.tasks) await bench.commandTask(videoId);
    await until(() => counted.mock.calls.length === 2);
    // The two tasks run at the same time.
    expect(counted.mock.calls.map(([seconds]) => seconds).sort()).toEqual([0, 20]);
    // Its I-frames are those of the only rendition. There is a key frame each second.
    const done = eventsOf<Completed>('task.completed', videoId);
    const manifest = madeVideo(
      plan,
      done.map(({ data }) => data.result),
    );
    expect(manifest.iFrames?.segments).toHaveLength(20);
  });

  test('a task renews its lease only until it ends', async () => {
    const ends = jest.spyOn(WorkLease.prototype, 'stop');
    const { videoId } = await plannedVideo();
    await until(() => ends.mock.calls.length === 1);
    await bench.commandTask(videoId);
    await until(() => eventsOf<Completed>('task.completed', videoId)[0]);
    expect(ends).toHaveBeenCalledTimes(2);
    bench.refuseSegments = true;
    await firstFailure(videoId);
    expect(ends).toHaveBeenCalledTimes(3);
  });

  test('a task whose source does not fit on the disk is left to other engines, and runs once there is room', async () => {
    const { videoId } = await plannedVideo();
    const refusals = bench.warningsOf('work.insufficient_disk_space');
    const requeued = bench.warningsOf('message.rejected');
    bench.commandedBytes = Number.MAX_SAFE_INTEGER;
    await bench.commandTask(videoId);
    // Requeued once for another engine, then dropped.
    await until(() => refusals.length === 2);
    expect(bench.claimedTasks.get(videoId)).toBeUndefined();
    expect(await bench.metric('framelane_engine_disk_refusals_total{command="task"}')).toBe(2);
    // The reserve is 50 of 1000 bytes, and a job needs a fifth of its source for segments: there is space for one reservation.
    bench.objects.diskSpace = async () => ({ freeBytes: 51, totalBytes: 1000 });
    bench.commandedBytes = 5;
    await bench.commandTask(videoId);
    await until(() => eventsOf('task.completed', videoId).length === 1);
    await bench.commandTask(videoId);
    await until(() => eventsOf('task.completed', videoId).length === 2);
    expect([refusals.length, requeued.length]).toEqual([2, 1]);
  });

  test('no task begins while all slots are in use', async () => {
    const { videoId } = await plannedVideo();
    const storeSegments = bench.holdSegments();
    bench.pieceSeconds = null;
    const short = await makeClip(join(bench.directory, 'short.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const inSlot = await bench.submit(short);
    await until(() => bench.progress(inSlot).length > 0);
    await bench.commandTask(videoId);
    // Reports that renew the lease, one second after another: a task would have been claimed by then.
    const before = bench.progress(inSlot).length;
    await until(() => bench.progress(inSlot).length > before + 1);
    expect(bench.claimedTasks.get(videoId)).toBeUndefined();
    storeSegments();
    await bench.manifest(inSlot);
    await until(() => eventsOf('task.completed', videoId)[0]);
  });

  test('a worker can be stopped while it waits to hand over a plan', async () => {
    const failures = bench.warningsOf('work.request_failed');
    const fetched = bench.objects.fetchToFile;
    bench.objects.fetchToFile = (...args) => {
      bench.isUnreachable = true;
      return fetched(...args);
    };
    const videoId = await submitLongVideo();
    await until(() => failures[0]);
    expect(failures[0]).toMatchObject({ videoId });
    await bench.worker.stop();
    expect(await bench.failure(videoId)).toMatchObject({ code: 'engine_stopped' });
  });

  test('a worker can be stopped while it waits to claim a task', async () => {
    const { videoId } = await plannedVideo();
    const failures = bench.warningsOf('work.request_failed');
    bench.isUnreachable = true;
    await bench.commandTask(videoId);
    await until(() => failures[0]);
    expect(failures[0]).toMatchObject({ videoId });
    await bench.worker.stop();
    expect(bench.claimedTasks.get(videoId)).toBeUndefined();
  });

  test('the plan of a long video has the hash of its source on request only', async () => {
    const { videoId: withoutHash } = await plannedVideo();
    bench.hashSource = true;
    const { videoId } = await plannedVideo();
    const source = await readFile(join(bench.directory, 'long.mp4'));
    const sha256 = createHash('sha256').update(source).digest('hex');
    expect([bench.planHashes.get(withoutHash), bench.planHashes.get(videoId)]).toEqual([undefined, sha256]);
  });

  test('jobs read the stored source where they can link to it: nothing is copied or kept', async () => {
    const { videoId, plan } = await plannedVideo();
    const storeSegments = bench.holdSegments();
    await bench.commandTask(videoId);
    await until(() => bench.claimedTasks.get(videoId));
    const jobs = join(bench.workDir, 'jobs');
    const source = await until(async () => {
      const names = await readdir(jobs, { recursive: true });
      const name = names.find((path) => path.endsWith('source/file'));
      return name !== undefined && stat(join(jobs, name));
    });
    const stored = await stat(join(bench.directory, 'objects', bench.sourceOf(videoId)));
    expect([source.dev, source.ino]).toEqual([stored.dev, stored.ino]);
    storeSegments();
    for (const _ of plan.tasks) await bench.commandTask(videoId);
    await until(() => eventsOf('task.completed', videoId).length === plan.tasks.length);
    expect(bench.partsFetched).toEqual([]);
    expect(await readdir(join(bench.workDir, 'sources'))).toEqual([]);
  });

  test('a task whose segments cannot be stored can be retried, and leaves no objects', async () => {
    const { videoId } = await plannedVideo();
    bench.refuseSegments = true;
    expect(await firstFailure(videoId)).toMatchObject({
      task: taskNumber(0),
      try: 1,
      code: 'storage_failed',
      retryable: true,
    });
    expect(await bench.stored(videoId)).toEqual([]);
  });

  test('a piece that is not as planned fails without a retry', async () => {
    const { videoId, plan } = await plannedVideo();
    const [piece] = plan.tasks.flatMap((task) => (task.kind === 'piece' ? [task] : []));
    if (piece === undefined) throw new Error('The plan has no piece');
    const { firstFrame, frames } = piece;
    const wrong = { ...piece, segmentStarts: [firstFrame, firstFrame + frames / 2 + 1] };
    bench.plans.set(videoId, { ...plan, tasks: [wrong] });
    expect(await firstFailure(videoId)).toMatchObject({ code: 'internal_error', retryable: false });
    expect(await bench.stored(videoId)).toEqual([]);
  });

  test('a worker that stops hands its task back', async () => {
    const { videoId } = await plannedVideo();
    const storeSegments = bench.holdSegments();
    const failure = firstFailure(videoId);
    await until(() => bench.claimedTasks.get(videoId));
    const stopped = bench.worker.stop();
    storeSegments();
    expect(await failure).toMatchObject({ task: taskNumber(0), try: 1, code: 'engine_stopped' });
    await stopped;
  });

  test('a task that is no longer current ends without a result', async () => {
    const { videoId } = await plannedVideo();
    await runOutdatedTask(videoId);
    await until(async () => (await readdir(join(bench.workDir, 'jobs'))).length === 0);
    // A result would be published after the removal of the folder.
    await bench.worker.stop();
    expect(eventsOf('task.completed', videoId)).toEqual([]);
    expect(eventsOf('task.failed', videoId)).toEqual([]);
  });
});

describe('an engine whose sources are copies', () => {
  beforeEach(async () => {
    bench = await WorkerBench.start({ copies: true });
    bench.pieceSeconds = 6;
  });

  test('fetches the source of a long video once', async () => {
    const { videoId, plan } = await plannedVideo();
    for (const _ of plan.tasks) await bench.commandTask(videoId);
    await until(() => eventsOf('task.completed', videoId).length === plan.tasks.length);
    // After a task that cannot be done as planned, the next attempt transcodes the video as a whole.
    bench.pieceSeconds = null;
    bench.hashSource = true;
    await bench.reclaim(videoId);
    await bench.manifest(videoId);
    const source = await readFile(join(bench.directory, 'long.mp4'));
    expect(bench.planHashes.get(videoId)).toBe(createHash('sha256').update(source).digest('hex'));
    expect(bench.fetches).toBe(1);
    expect(await readdir(join(bench.workDir, 'sources'))).toHaveLength(1);
  });

  test('fetches what a piece needs, and then only what the next one needs in addition', async () => {
    const path = join(bench.directory, 'long.mp4');
    const { plan } = await plannedVideo(60);
    const [first, second] = plan.tasks.filter((task) => task.kind === 'piece').slice(3);
    const other = await WorkerBench.start({ copies: true });
    try {
      const videoId = await other.store(path);
      other.plans.set(videoId, { ...plan, tasks: [first as Task, second as Task] });
      const fetched = async (pieces: number) => {
        await other.commandTask(videoId);
        await until(() => other.events.filter(({ type }) => type === 'task.completed').length === pieces);
        return lengthOf(other.partsFetched.map(([from, to]) => [from, to + 1]));
      };
      const [ofFirst, ofSecond] = [first, second].map((task) => (task as PieceTask).bytes ?? []);
      const { size } = await stat(path);
      expect(await fetched(1)).toBe(lengthOf(ofFirst ?? []));
      expect(lengthOf(ofFirst ?? [])).toBeLessThan(0.5 * size);
      expect(await fetched(2)).toBe(lengthOf(union([...(ofFirst ?? []), ...(ofSecond ?? [])])));
      expect(other.fetches).toBe(0);
    } finally {
      await other.stop();
    }
  });

  test('publishes no result and keeps no source of an attempt that ended while it was planned', async () => {
    bench.isCurrent = false;
    const videoId = await submitLongVideo();
    await until(() => bench.refusedPlans.has(videoId));
    await until(async () => (await readdir(join(bench.workDir, 'sources'))).length === 0);
    await bench.worker.stop();
    expect(bench.results(videoId)).toEqual([]);
    expect(await bench.metric('framelane_engine_transcodes_total{outcome="abandoned",code=""}')).toBe(1);
  });

  test('removes a kept source if a job needs the space', async () => {
    await plannedVideo();
    const sources = () => readdir(join(bench.workDir, 'sources'));
    await until(async () => (await sources()).length === 1);
    const refusals = bench.warningsOf('work.insufficient_disk_space');
    bench.commandedBytes = Number.MAX_SAFE_INTEGER;
    await submitLongVideo();
    await until(() => refusals[0]);
    expect(await sources()).toEqual([]);
  });

  test('removes the source of a video that was deleted', async () => {
    const { videoId } = await plannedVideo();
    await until(async () => (await readdir(join(bench.workDir, 'sources'))).length === 1);
    await runOutdatedTask(videoId);
    await until(async () => (await readdir(join(bench.workDir, 'sources'))).length === 0);
  });
});
