import { createMessage } from '@framelane/contracts/messages';
import { queueFor } from '@framelane/contracts/topology';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { WORKSPACE_ID } from '../src/api.ts';
import { loseCommands, withChannel } from '../src/broker-channel.ts';
import { cachedMp4 } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

/** The commands of the pieces of codecs. */
const COMMAND = 'background';
const KIND = 'codec_piece';
/** Of one video in the queue. */
const COMMANDS_AT_ONCE = 2;

let cluster: Cluster;
let file: string;
beforeAll(async () => {
  [cluster, file] = await Promise.all([
    Cluster.start({ timing: { taskLease: 8 } }),
    cachedMp4({ size: '426x240', rate: 12, seconds: 18 }),
  ]);
});
afterEach(async () => {
  cluster.heal();
  letStore();
  await loseCommands(cluster, COMMAND, false);
  // A test that fails may have left a service killed.
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(() => cluster?.stop());

/** Ends the faults of the object store. Requests that hang are disconnected, and engines repeat them. */
function letStore(): void {
  cluster.storage.heal();
  cluster.storage.hangUp();
}

/** The pieces of codecs of a video that have no result, and their commands that the queue should have. */
async function pieces(videoId: string): Promise<{ count: number; sent: number; sending: number }> {
  const [row] = await cluster.postgres.query<{ count: number; sent: number; sending: number }>(
    `select count(*)::int as count, count(command_published_at)::int as sent, count(command_claimed_until)::int as sending
    from tasks where video_id = $1 and kind = $2 and result is null`,
    [videoId, KIND],
  );
  return row ?? { count: 0, sent: 0, sending: 0 };
}

/** A ready video with a codec that no engine has begun: the broker has lost the commands, and loses those that follow. */
async function readyVideo(): Promise<string> {
  await loseCommands(cluster, COMMAND, true);
  const videoId = await cluster.api.send(file, { codecs: ['av1'] });
  await cluster.api.client.videos.waitUntilReady(videoId);
  await until(async () => {
    const { sent, sending } = await pieces(videoId);
    return sent === COMMANDS_AT_ONCE && sending === 0;
  });
  return videoId;
}

/** Sends the lost commands again, as the control planes do after a while. */
async function sendAgain(videoId: string): Promise<void> {
  await loseCommands(cluster, COMMAND, false);
  await cluster.postgres.query(
    `update tasks set command_published_at = command_published_at - interval '16 minutes' where video_id = $1`,
    [videoId],
  );
}

/** Lets an engine make one piece of a codec of such a video. */
async function makeOnePiece(videoId: string): Promise<void> {
  const before = (await pieces(videoId)).count;
  const waitingSince = new Date().toISOString();
  const command = createMessage(COMMAND, { videoId, workspaceId: WORKSPACE_ID, inputBytes: 1, waitingSince });
  await withChannel(cluster, (channel) =>
    channel.sendToQueue(queueFor(COMMAND), Buffer.from(JSON.stringify(command)), { persistent: true }),
  );
  await until(async () => (await pieces(videoId)).count === before - 1);
}

/** Lets engines begin pieces of a codec of such a video that they cannot store. Resolves with the first of these engines. */
async function pausedAtPiece(videoId: string): Promise<ServiceProcess> {
  cluster.storage.inject('PutObject', 'hang');
  const puts = () => cluster.storage.log.filter((operation) => operation === 'PutObject').length;
  const putsBefore = puts();
  const before = cluster.engines.map((engine) => started([engine], videoId).length);
  await sendAgain(videoId);
  const engine = await until(() =>
    cluster.engines.find((each, at) => started([each], videoId).length > (before[at] ?? 0)),
  );
  await until(() => puts() > putsBefore);
  return engine;
}

const linesOf = (services: readonly ServiceProcess[], event: string, videoId: string) =>
  logged(services, event).filter((line) => line.videoId === videoId && line.kind === KIND);
const started = (engines: readonly ServiceProcess[], videoId: string) =>
  linesOf(engines, 'task.started', videoId);

/** How the preparation of the codec of a video has ended. */
function endOfCodec(videoId: string) {
  return until(async () => {
    const { status, codecs = [] } = await cluster.api.client.videos.get(videoId);
    expect(status).toBe('ready');
    const codec = codecs.find((each) => each.codec === 'av1');
    return codec?.status !== 'preparing' && codec;
  });
}

/** Waits until the codec is ready, and checks that each of its pieces was completed once. */
async function expectReady(videoId: string, count: number): Promise<void> {
  expect(await endOfCodec(videoId)).toMatchObject({ status: 'ready', error: null });
  expect(await violationsAtRest(cluster)).toEqual([]);
  const completed = linesOf(cluster.controlPlanes, 'task.completed', videoId).map(({ task }) => task);
  expect([completed.length, new Set(completed).size]).toEqual([count, count]);
}

test('a codec whose commands the broker has lost becomes ready', async () => {
  const videoId = await readyVideo();
  const { count } = await pieces(videoId);
  expect(count).toBeGreaterThan(COMMANDS_AT_ONCE);
  expect(started(cluster.engines, videoId)).toEqual([]);
  await sendAgain(videoId);
  await expectReady(videoId, count);
});

test('a codec becomes ready whose engine was killed before it had stored its piece', async () => {
  const videoId = await readyVideo();
  const { count } = await pieces(videoId);
  const engine = await pausedAtPiece(videoId);
  await engine.end('SIGKILL');
  letStore();
  await engine.start();
  await expectReady(videoId, count);
  expect(started(cluster.engines, videoId).length).toBeGreaterThan(count);
});

test('a codec becomes ready whose engine was killed after it had stored its piece, and before it could report it', async () => {
  const videoId = await readyVideo();
  const { count } = await pieces(videoId);
  const engine = await pausedAtPiece(videoId);
  cluster.proxiesOf(engine).broker.cut();
  letStore();
  await until(() => linesOf([engine], 'task.finished', videoId).length > 0);
  await engine.end('SIGKILL');
  cluster.heal();
  await engine.start();
  await expectReady(videoId, count);
  expect(started(cluster.engines, videoId).length).toBeGreaterThan(count);
});

test('the result of the last piece and the renditions of its codec are stored together, or not at all', async () => {
  const videoId = await readyVideo();
  const { count } = await pieces(videoId);
  const client = new Client({ connectionString: cluster.postgres.url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('lock table renditions in share mode');
    await sendAgain(videoId);
    const waits = `select from pg_locks where relation = 'renditions'::regclass and not granted`;
    await until(async () => (await cluster.postgres.query(waits)).length > 0);
    await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
    await client.query('rollback');
  } finally {
    await client.end();
  }
  const runs = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'`;
  await until(async () => (await cluster.postgres.query(runs)).length === 0);
  expect((await pieces(videoId)).count).toBe(1);
  const added = `select from renditions where video_id = $1 and name like '%-av1'`;
  expect(await cluster.postgres.query(added, [videoId])).toEqual([]);

  await Promise.all(cluster.controlPlanes.map((each) => each.start()));
  await expectReady(videoId, count);
});

test('a video that is deleted while engines make a codec leaves nothing', async () => {
  const videoId = await readyVideo();
  await makeOnePiece(videoId);
  await pausedAtPiece(videoId);
  await cluster.api.delete(videoId);
  letStore();
  expect(await violationsAtRest(cluster)).toEqual([]);
  const keys = [...(await cluster.bucket.objects()).keys()];
  expect(keys.filter((key) => key.includes(videoId))).toEqual([]);
});

test('a video whose source is deleted while engines make a codec stays ready without the codec', async () => {
  const videoId = await readyVideo();
  await makeOnePiece(videoId);
  await pausedAtPiece(videoId);
  await cluster.api.client.videos.deleteSource(videoId);
  letStore();
  expect(await endOfCodec(videoId)).toMatchObject({ status: 'failed', error: { code: 'source_deleted' } });
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a codec whose pieces cannot be stored fails, and its video stays ready', async () => {
  const videoId = await readyVideo();
  await makeOnePiece(videoId);
  cluster.storage.inject('PutObject', 'forbidden');
  await sendAgain(videoId);
  expect(await endOfCodec(videoId)).toMatchObject({ status: 'failed', error: { code: 'codec_failed' } });
  letStore();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
