import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { MessageOf } from '@framelane/contracts/messages';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { makeClip } from '@framelane/test-kit/clips';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkerBench } from '../support/worker-bench.ts';

type Completed = MessageOf<'task.completed'>;
type Failed = MessageOf<'task.failed'>;

let bench: WorkerBench;
beforeEach(async () => {
  bench = await WorkerBench.start();
  bench.taskSeconds = 6;
});
afterEach(() => bench.stop());

/** A video that the worker has planned. */
async function plannedVideo(): Promise<{ videoId: string; plan: TranscodePlan }> {
  const clip = await makeClip(join(bench.directory, 'long.mp4'), {
    video: 'testsrc2=s=320x240:r=25:d=20',
    audio: 'sine=d=20',
    options: ['-c:v', 'mpeg4', '-g', '25', '-c:a', 'aac'],
  });
  const videoId = await bench.submit(clip);
  const plan = await until(() => bench.plans.get(videoId));
  return { videoId, plan };
}

const eventsOf = <T extends Completed | Failed>(type: T['type'], videoId: string) =>
  bench.events.filter((event): event is T => event.type === type && event.data.videoId === videoId);

/** The failure of the first task of a video. */
async function firstFailure(videoId: string): Promise<Failed['data']> {
  await bench.commandTask(videoId);
  return until(() => eventsOf<Failed>('task.failed', videoId)[0]?.data);
}

test('an attempt at a long video ends with its plan, and each command runs one task', async () => {
  const { videoId, plan } = await plannedVideo();
  expect(plan.tasks.map(({ kind }) => kind)).toEqual(['audio', 'piece', 'piece', 'images', 'piece', 'piece']);
  expect(bench.results(videoId)).toEqual([]);
  for (const _ of plan.tasks) await bench.commandTask(videoId);
  // One more than there are tasks.
  await bench.commandTask(videoId);
  const done = await until(() => {
    const events = eventsOf<Completed>('task.completed', videoId);
    return events.length === plan.tasks.length && events;
  });
  const manifest = joinManifest(
    plan,
    done.map(({ data }) => data.result),
  );
  expect(manifest.duration).toBe(20);
  const segments = [...manifest.renditions, manifest.iFrames].flatMap(
    (rendition) => rendition?.segments ?? [],
  );
  const images = [manifest.poster, manifest.storyboard].filter((image) => image !== null);
  const stored = await bench.stored(videoId);
  expect(stored).toHaveLength(segments.length + images.length);
  // Viewers can begin when the first segment of each rendition is stored.
  const begun = Object.assign(
    {},
    ...bench.events.flatMap((event) => (event.type === 'task.progress' ? [event.data.begun] : [])),
  );
  expect(begun).toEqual(Object.fromEntries(manifest.renditions.map(({ name, codecs }) => [name, codecs])));
  // Each try has a folder, and the result says what is in it.
  const folders = new Set(stored.map((key) => key.split('/')[4]));
  expect([...folders].sort()).toEqual(['t0.1', 't1.1', 't2.1', 't3.1', 't4.1', 't5.1']);
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
  expect(eventsOf('task.failed', videoId)).toEqual([]);
});

test('a task whose segments cannot be stored fails for now, and leaves nothing', async () => {
  const { videoId } = await plannedVideo();
  bench.refuseSegments = true;
  expect(await firstFailure(videoId)).toMatchObject({
    task: 0,
    try: 1,
    code: 'storage_failed',
    retryable: true,
  });
  expect(await bench.stored(videoId)).toEqual([]);
});

test('a piece that is not as planned fails for good', async () => {
  const { videoId, plan } = await plannedVideo();
  const [piece] = plan.tasks.flatMap((task) => (task.kind === 'piece' ? [task] : []));
  if (piece === undefined) throw new Error('The plan has no piece');
  const { firstFrame, frames } = piece;
  const wrong = { ...piece, segmentStarts: [firstFrame, firstFrame + frames / 2] };
  bench.plans.set(videoId, { ...plan, tasks: [wrong] });
  expect(await firstFailure(videoId)).toMatchObject({ code: 'internal_error', retryable: false });
  expect(await bench.stored(videoId)).toEqual([]);
});

test('a worker that stops hands its task back', async () => {
  const { videoId } = await plannedVideo();
  const gate = Promise.withResolvers<void>();
  bench.segmentGate = gate.promise;
  const failure = firstFailure(videoId);
  await until(() => bench.claimedTasks.get(videoId));
  const stopped = bench.worker.stop();
  gate.resolve();
  expect(await failure).toMatchObject({ task: 0, try: 1, code: 'engine_stopped' });
  await stopped;
});

test('a task that is no longer current ends without a result', async () => {
  const { videoId } = await plannedVideo();
  const gate = Promise.withResolvers<void>();
  bench.segmentGate = gate.promise;
  bench.isCurrent = false;
  await bench.commandTask(videoId);
  await until(() => bench.taskChecks > 0);
  gate.resolve();
  await until(async () => (await readdir(join(bench.workDir, 'jobs'))).length === 0);
  expect(eventsOf('task.completed', videoId)).toEqual([]);
  expect(eventsOf('task.failed', videoId)).toEqual([]);
});

test('an attempt that ended while it was planned leaves nothing', async () => {
  bench.isCurrent = false;
  const { videoId } = await plannedVideo();
  await until(async () => (await readdir(join(bench.workDir, 'jobs'))).length === 0);
  expect(bench.results(videoId)).toEqual([]);
  expect(await bench.stored(videoId)).toEqual([]);
});

describe('an engine whose sources are copies', () => {
  beforeEach(async () => {
    await bench.stop();
    bench = await WorkerBench.start({ copies: true });
    bench.taskSeconds = 6;
  });

  test('fetches the source of a long video once', async () => {
    const { videoId, plan } = await plannedVideo();
    for (const _ of plan.tasks) await bench.commandTask(videoId);
    await until(() => eventsOf('task.completed', videoId).length === plan.tasks.length);
    // A task that fails ends the attempt, and the next one makes the video in one run.
    bench.taskSeconds = undefined;
    bench.hashSource = true;
    await bench.reclaim(videoId);
    const source = await readFile(join(bench.directory, 'long.mp4'));
    expect((await bench.result(videoId)).data).toMatchObject({
      sourceSha256: createHash('sha256').update(source).digest('hex'),
    });
    expect(bench.fetches).toBe(1);
    expect(await readdir(join(bench.workDir, 'sources'))).toHaveLength(1);
  });

  test('removes the source of a video that was deleted', async () => {
    const { videoId } = await plannedVideo();
    await until(async () => (await readdir(join(bench.workDir, 'sources'))).length === 1);
    const gate = Promise.withResolvers<void>();
    bench.segmentGate = gate.promise;
    bench.isCurrent = false;
    await bench.commandTask(videoId);
    await until(() => bench.taskChecks > 0);
    gate.resolve();
    await until(async () => (await readdir(join(bench.workDir, 'sources'))).length === 0);
  });
});
