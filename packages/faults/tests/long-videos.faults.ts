import { readdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { taskNumber } from '@framelane/contracts/outputs/tasks';
import { findBrowser, openPage, startBrowser } from '@framelane/test-kit/browser';
import { pngOf } from '@framelane/test-kit/png';
import { requires } from '@framelane/test-kit/requires';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { connect } from 'amqplib';
import { outcomesOf } from '../src/attempts.ts';
import { makePieceClips, type PieceClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { buildFrontEnd } from '../src/front-ends.ts';
import { hasLogged, logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

const browserPath = findBrowser();
const testInBrowser = requires(
  'Chromium',
  browserPath === undefined ? 'Chromium is not installed' : null,
).test;

let cluster: Cluster;
let clips: PieceClips;
beforeAll(async () => {
  // The tests count tries. On a busy machine, an engine may be late to renew a shorter lease.
  const timing = { taskLease: 8 };
  [cluster, clips] = await Promise.all([Cluster.start({ timing }), makePieceClips()]);
});
afterEach(() => cluster?.heal());
afterAll(() => cluster?.stop());

/** The lines of an event about tasks of the plan of a video, and about the video. */
const linesOf = (event: string, videoId: string) =>
  logged(cluster.services, event).filter((line) => line.videoId === videoId && line.kind !== 'plan');

const ready = (videoId: string) => cluster.api.client.videos.waitUntilReady(videoId);

/** Waits until an engine encodes pieces of a video, and stops its encoders. Resolves with the engine. */
async function pauseAtPiece(videoId: string): Promise<ServiceProcess> {
  const hasBegun = (engine: ServiceProcess) =>
    logged([engine], 'task.started').some((line) => line.videoId === videoId && line.kind === 'piece');
  // An engine that has ended its pieces may have left the others to another one.
  return until(async () => {
    for (const engine of cluster.engines) {
      if (!hasBegun(engine) || !(await writesVideo(engine))) continue;
      await engine.signalPrograms('SIGSTOP');
      if (await engine.hasStoppedProgram()) return engine;
      await engine.signalPrograms('SIGCONT');
    }
    return false;
  });
}

/** Whether ffmpeg writes. A sandbox that is stopped before it has started ffmpeg would outlive its engine. */
async function writesVideo(engine: ServiceProcess): Promise<boolean> {
  const jobs = join(cluster.workDir, String(cluster.engines.indexOf(engine) + 1), 'jobs');
  const files = await readdir(jobs, { recursive: true }).catch(() => []);
  return files.some((file) => /\.(ts|m4s)$/.test(file));
}

/** The completed tasks of a plan, each as often as it was completed. */
const completedTasks = (videoId: string) =>
  linesOf('task.completed', videoId)
    .map(({ task }) => Number(task))
    .sort((a, b) => a - b);

/** The number of tasks of the plan of a video. */
async function tasksOf(videoId: string): Promise<number> {
  const [row] = await cluster.postgres.query<{ count: number }>(
    `select count(*)::int as count from tasks where video_id = $1 and kind <> 'plan'`,
    [videoId],
  );
  return row?.count ?? 0;
}

/** Uploads a long video. Its source cannot be fetched until `endStorageFaults`. Resolves with the video and the engine that claimed it. */
async function pauseAtFetch(): Promise<{ videoId: string; engine: ServiceProcess }> {
  cluster.storage.inject('GetObject', 'hang');
  const videoId = await cluster.api.send(clips.encoded);
  const engine = await until(() =>
    cluster.engines.find((each) => hasLogged([each], 'task.started', videoId)),
  );
  return { videoId, engine };
}

/** Ends the faults of the object store and disconnects hanging requests. With 'stores no segments', every later PutObject hangs. */
function endStorageFaults(next: 'stores segments' | 'stores no segments'): void {
  cluster.storage.heal();
  if (next === 'stores no segments') cluster.storage.inject('PutObject', 'hang');
  cluster.storage.hangUp();
}

/** Removes the images of watermarks that no video needs, as control planes do once an hour. */
async function pruneWatermarks(): Promise<void> {
  const due = await cluster.postgres.query<{ at: Date }>(
    `update maintenance_steps set due_at = now() where name = 'prune-watermarks' returning due_at as at`,
  );
  expect(due).toHaveLength(1);
  const isDone = `select from maintenance_steps
    where name = 'prune-watermarks' and due_at > now() + interval '30 minutes' and claimed_until is null`;
  await until(async () => (await cluster.postgres.query(isDone)).length > 0);
}

test('a video keeps its watermark, although the image is deleted and the engine is killed', async () => {
  const { watermarks } = cluster.api.client;
  const { id: image } = await watermarks.create(pngOf(64, 32), { type: 'image/png' });
  const videoId = await cluster.api.send(clips.copyable, { watermark: { image } });
  const engine = await pauseAtPiece(videoId);
  await watermarks.delete(image);
  await pruneWatermarks();
  await engine.end('SIGKILL');
  const { inputIssues } = await ready(videoId);
  await engine.start();
  expect(inputIssues.map(({ code }) => code)).toEqual(['copy_prevented']);
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  await pruneWatermarks();
  expect(await cluster.postgres.query('select from watermarks')).toEqual([]);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a killed engine loses only the pieces in progress', async () => {
  const videoId = await cluster.api.send(clips.encoded);
  const engine = await pauseAtPiece(videoId);
  const count = await tasksOf(videoId);
  const startedByKilled = logged([engine], 'task.started').length;
  await engine.end('SIGKILL');
  await ready(videoId);
  await engine.start();
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  expect(completedTasks(videoId)).toEqual(
    Array.from({ length: count }, (_, position) => taskNumber(position)),
  );
  // At most the tasks that the killed engine had started are started again.
  const again = linesOf('task.started', videoId).length - count;
  expect(again).toBeGreaterThan(0);
  expect(again).toBeLessThanOrEqual(startedByKilled);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a piece that is finished after its lease has expired changes nothing', async () => {
  const videoId = await cluster.api.send(clips.encoded);
  const engine = await pauseAtPiece(videoId);
  for (const proxy of Object.values(cluster.proxiesOf(engine))) proxy.silence();
  await ready(videoId);
  const ignored = () => linesOf('task.result_ignored', videoId).length;
  const before = ignored();
  // Without the internal API, the engine does not learn that its piece is obsolete.
  const { broker, internal } = cluster.proxiesOf(engine);
  broker.heal();
  await engine.signalPrograms('SIGCONT');
  await until(() => logged([engine], 'task.finished').some((line) => line.videoId === videoId));
  await until(() => ignored() > before);
  internal.heal();
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('if an engine is killed before its plan is stored, the next attempt plans the video again', async () => {
  const { videoId, engine } = await pauseAtFetch();
  cluster.proxiesOf(engine).internal.cut();
  endStorageFaults('stores segments');
  await until(() => hasLogged([engine], 'work.request_failed', videoId));
  await engine.end('SIGKILL');
  cluster.proxiesOf(engine).internal.heal();
  await ready(videoId);
  await engine.start();
  expect(await outcomesOf(cluster, videoId)).toEqual(['lease_expired', 'completed']);
  expect(new Set(linesOf('task.started', videoId).map(({ attempt }) => attempt))).toEqual(new Set([2]));
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('if the engine that planned a video is killed, the other one fetches the whole source once', async () => {
  const { videoId, engine } = await pauseAtFetch();
  const before = cluster.storage.bytesSent;
  endStorageFaults('stores no segments');
  await until(() => hasLogged(cluster.controlPlanes, 'attempt.planned', videoId));
  await engine.end('SIGKILL');
  endStorageFaults('stores segments');
  await ready(videoId);
  const { size } = await stat(clips.encoded);
  // Both engines fetch the whole source. A part of it is sent again, because `endStorageFaults` breaks connections.
  const fetched = (cluster.storage.bytesSent - before) / size;
  expect(fetched).toBeGreaterThanOrEqual(2);
  expect(fetched).toBeLessThan(2.5);
  await engine.start();
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a task is tried again if its engine is killed between the last segment and the report', async () => {
  const { videoId } = await pauseAtFetch();
  endStorageFaults('stores no segments');
  const count = await until(() => tasksOf(videoId));
  // Holds back the last task until all others are complete.
  const setLastDue = (due: string) =>
    cluster.postgres.query<{ number: number }>(
      `update tasks set due_at = $2, command_due_at = $2, command_claimed_until = null, command_published_at = null
       where video_id = $1 and number = $3 and lease_expires_at is null returning number`,
      [videoId, due, taskNumber(count - 1)],
    );
  expect(await setLastDue('infinity')).toHaveLength(1);
  endStorageFaults('stores segments');
  await until(() => completedTasks(videoId).length === count - 1);

  cluster.storage.inject('PutObject', 'hang');
  expect(await setLastDue('now')).toHaveLength(1);
  const isLast = (line: Record<string, unknown>) =>
    line.videoId === videoId && line.task === taskNumber(count - 1);
  const engine = await until(() =>
    cluster.engines.find((each) => logged([each], 'transcode.ffmpeg_ended').some(isLast)),
  );
  cluster.proxiesOf(engine).broker.cut();
  endStorageFaults('stores segments');
  await until(() => logged([engine], 'task.finished').some(isLast));
  await engine.end('SIGKILL');
  await ready(videoId);
  cluster.heal();
  await engine.start();
  expect(linesOf('task.started', videoId)).toHaveLength(count + 1);
  expect(completedTasks(videoId)).toEqual(
    Array.from({ length: count }, (_, position) => taskNumber(position)),
  );
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('an engine that stops hands its tasks back at once', async () => {
  const videoId = await cluster.api.send(clips.encoded);
  const engine = await pauseAtPiece(videoId);
  await engine.signalPrograms('SIGCONT');
  expect(await engine.end('SIGTERM')).toBe(0);
  await ready(videoId);
  await engine.start();
  const ended = linesOf('task.ended', videoId);
  expect(ended.length).toBeGreaterThan(0);
  expect(new Set(ended.map(({ outcome }) => outcome))).toEqual(new Set(['handed_back']));
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a video that is deleted while its pieces are encoded leaves nothing', async () => {
  const videoId = await cluster.api.send(clips.encoded);
  const engine = await pauseAtPiece(videoId);
  await cluster.api.client.videos.delete(videoId);
  await until(() => hasLogged([engine], 'task.abandoned', videoId));
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('commands that the broker loses only delay a long video', async () => {
  // A consumer that takes commands and does nothing gets about every second one.
  const connection = await connect(cluster.rabbitmq.url);
  const channel = await connection.createChannel();
  await channel.prefetch(1);
  let lost = 0;
  await channel.consume('engine.tasks', (message) => {
    if (message === null) return;
    lost += 1;
    channel.ack(message);
  });
  const videoId = await cluster.api.send(clips.encoded);
  // Commands count as lost after a while with an empty queue.
  await until(async () => {
    await cluster.postgres.query(
      `update tasks set command_published_at = command_published_at - interval '1 minute' where command_published_at is not null`,
    );
    return (await cluster.api.client.videos.get(videoId)).status === 'ready';
  });
  await connection.close();
  expect(lost).toBeGreaterThan(0);
  expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a short video does not wait for the pieces of two long ones', async () => {
  const long = await Promise.all([cluster.api.send(clips.encoded), cluster.api.send(clips.encoded)]);
  for (const videoId of long) await until(() => linesOf('task.started', videoId).length > 0);
  const short = await cluster.api.send(clips.short);
  await ready(short);
  const running = await Promise.all(long.map((videoId) => cluster.api.client.videos.get(videoId)));
  expect(running.map(({ status }) => status)).toEqual(['processing', 'processing']);
  const engine = await until(() => cluster.engines.find((each) => hasLogged([each], 'task.finished', short)));
  const timesOf = (event: string, videoIds: string[], isPlan: boolean) =>
    logged([engine], event)
      .filter(({ videoId, kind }) => videoIds.includes(String(videoId)) && (kind === 'plan') === isPlan)
      .map(({ timestamp }) => String(timestamp));
  const [from = ''] = timesOf('task.started', [short], true);
  const [to = ''] = timesOf('task.finished', [short], true);
  // The tasks that ran when the short video began, and those that have begun until its end, are together no more than the
  // processors. So no task began in place of one that ended.
  const begun = timesOf('task.started', long, false).filter((at) => at < to).length;
  const ended = timesOf('task.finished', long, false).filter((at) => at <= from).length;
  expect(begun - ended).toBeLessThanOrEqual(availableParallelism());
  await Promise.all(long.map(ready));
  expect(await violationsAtRest(cluster)).toEqual([]);
});

testInBrowser('a viewer plays a video while it is transcoded, until its end', async () => {
  await buildFrontEnd('player');
  const browser = await startBrowser(browserPath ?? '');
  try {
    const videoId = await cluster.api.send(clips.copied);
    // The preview needs this task. The engine that is paused below may run it, too, so it must be complete before.
    await until(() => linesOf('task.completed', videoId).some(({ kind }) => kind === 'copy'));
    const engine = await pauseAtPiece(videoId);
    const { status, preview, embed } = await until(async () => {
      const video = await cluster.api.client.videos.get(videoId);
      return video.preview && video;
    });
    expect([status, preview?.variants]).toEqual(['processing', expect.arrayContaining(['720p'])]);
    const { page, problems } = await openPage(
      browser,
      `${embed}?autoplay=1&muted=1`,
      { width: 960, height: 540 },
      'load',
    );
    const playing = `document.querySelector('framelane-video')?.currentTime > 1`;
    await page.waitForFunction(playing);
    expect((await cluster.api.client.videos.get(videoId)).status).toBe('processing');
    await engine.signalPrograms('SIGCONT');
    await ready(videoId);
    await page.evaluate(`document.querySelector('framelane-video').playbackRate = 4`);
    await page.waitForFunction(`document.querySelector('framelane-video')?.ended`);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
  expect(await violationsAtRest(cluster)).toEqual([]);
});
