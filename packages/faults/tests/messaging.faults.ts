import { readFile } from 'node:fs/promises';
import { upload } from '@framelane/client/node';
import { newId } from '@framelane/contracts/ids';
import { COMMAND_TYPES, createMessage, type Message } from '@framelane/contracts/messages';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import { EXCHANGE } from '@framelane/contracts/topology';
import { formWith } from '@framelane/test-kit/multipart';
import { type RabbitMqNode, startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import type { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { outcomesOf } from '../src/attempts.ts';
import { loseCommands, withChannel } from '../src/broker-channel.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { hasLogged } from '../src/logged.ts';
import { beginPausedTranscode } from '../src/paused-transcode.ts';
import { outcomeOf, sendRaw } from '../src/raw-upload.ts';
import { type SystemState, signInForSystem } from '../src/system-state.ts';
import { holdUpload } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const DEAD_EVENTS = 'control-plane.events.dead';
const ACCEPTED = { status: 202, code: undefined };
/** A shorter lease of an upload expires while the connections to a broker are made again. */
const TIMING = { uploadLease: 12 };

let rabbitmq: RabbitMqNode;
let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  rabbitmq = await startRabbitMq();
  [cluster, clips] = await Promise.all([
    Cluster.start({ anyStorage: true, codecs: ['av1'], timing: TIMING, rabbitmq }),
    makeClips(),
  ]);
});
afterAll(async () => {
  await cluster?.stop();
});

async function statusOf(id: string): Promise<string | undefined> {
  return (await cluster.api.video(id))?.status;
}

/** Publishes messages as they are, in this order. */
async function publish(messages: { type: string; body: string }[]): Promise<void> {
  await withChannel(cluster, (channel) => {
    for (const { type, body } of messages) {
      channel.publish(EXCHANGE, type, Buffer.from(body), { persistent: true });
    }
  });
}

function asSent(message: Message): { type: string; body: string } {
  return { type: message.type, body: JSON.stringify(message) };
}

test('duplicate, late and reordered messages change nothing', async () => {
  const videoId = await cluster.api.send(clips.short);
  const video = await cluster.api.client.videos.waitUntilReady(videoId);
  const taskTry = { videoId, attempt: 1, task: PLANNING_TASK, try: 1 };
  const stale = [
    // No engine of the cluster has a recogniser, which `transcribe` needs.
    ...COMMAND_TYPES.filter((type) => type !== 'transcribe').map((type) =>
      createMessage(type, {
        videoId,
        workspaceId: video.workspaceId,
        inputBytes: 1,
        waitingSince: new Date().toISOString(),
      }),
    ),
    createMessage('task.progress', { ...taskTry, fraction: 0.5, startedRenditions: {} }),
    createMessage('task.failed', {
      ...taskTry,
      code: 'transcode_failed',
      message: 'Too late.',
      retryable: false,
    }),
    createMessage('upload.completed', {
      videoId,
      transferId: 'xfr_00000000000000000000000000',
      bytes: 1,
      sha256: '0'.repeat(64),
    }),
    createMessage('upload.aborted', {
      videoId,
      transferId: 'xfr_00000000000000000000000000',
    }),
    createMessage('upload.progress', { videoId: 'vid_nobody', transferId: 'xfr_nobody' }),
  ] as Message[];

  await publish([...stale, ...stale].map(asSent));

  expect(await violationsAtRest(cluster)).toEqual([]);
  expect(await cluster.api.video(videoId)).toEqual(video);
});

/** Messages from the engines about a video so far. */
async function reportsOn(videoId: string): Promise<Message[]> {
  return (await cluster.tap.messagesOn(videoId)).filter(({ type }) => type !== 'plan');
}

/** The message that an engine sends when the control plane did not respond to the registration of an upload. */
async function completionOf(videoId: string): Promise<Message> {
  const [row] = await cluster.postgres.query<{ transfer_id: string; size: number; sha256: string }>(
    'select transfer_id, size::float8 as size, sha256 from upload_tickets join videos on id = video_id where id = $1',
    [videoId],
  );
  if (row === undefined) throw new Error(`Video ${videoId} has no upload`);
  return createMessage('upload.completed', {
    videoId,
    transferId: row.transfer_id,
    bytes: row.size,
    sha256: row.sha256,
  });
}

test('duplicate reports count once, and an early report is ignored', async () => {
  const [first, second] = await Promise.all([cluster.api.ticket(), cluster.api.ticket()]);
  await upload(clips.short, first);
  const begun = await reportsOn(first.videoId);
  const completion = await completionOf(first.videoId);
  await publish([...begun, completion, completion].map(asSent));
  const video = await cluster.api.client.videos.waitUntilReady(first.videoId);

  const all = await reportsOn(first.videoId);
  const completed = all.find(({ type }) => type === 'task.completed');
  if (completed?.type !== 'task.completed') throw new Error('No task.completed message');
  await publish([...all, ...all.map((report) => ({ ...report, id: newId('msg') }))].map(asSent));
  const early = createMessage('task.completed', { ...completed.data, videoId: second.videoId });
  await publish([asSent(early)]);

  expect(await violationsAtRest(cluster)).toEqual([]);
  expect(await cluster.api.video(first.videoId)).toEqual(video);
  expect(await outcomesOf(cluster, first.videoId)).toEqual(['completed']);
  expect(await statusOf(second.videoId)).toBe('uploading');
  await upload(clips.short, second);
  await cluster.api.client.videos.waitUntilReady(second.videoId);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('an unreadable message becomes a dead letter, is logged, and does not block the next one', async () => {
  await publish([
    { type: 'upload.completed', body: '{"id":"msg_broken"' },
    {
      type: 'task.progress',
      body: JSON.stringify({ id: 'msg_other', type: 'task.progress', version: 99 }),
    },
  ]);
  const videoId = await cluster.api.send(clips.short);
  await cluster.api.client.videos.waitUntilReady(videoId);

  expect(await violationsAtRest(cluster, { deadLetters: { [DEAD_EVENTS]: 2 } })).toEqual([]);
  expect(cluster.log).toContain('message.unreadable');

  await withChannel(cluster, (channel) => channel.purgeQueue(DEAD_EVENTS));
});

/** Uploads a video whose command the broker accepts and loses. */
async function sendWithLostCommand(): Promise<string> {
  await loseCommands(cluster, 'plan', true);
  const videoId = await cluster.api.send(clips.short);
  await until(async () => (await commandsFor(videoId)) === 1 && !(await isSending(videoId)));
  await loseCommands(cluster, 'plan', false);
  expect(await statusOf(videoId)).toBe('processing');
  return videoId;
}

/** The number of commands sent for a video. */
async function commandsFor(videoId: string): Promise<number> {
  return (await cluster.tap.messagesOn(videoId)).filter(({ type }) => type === 'plan').length;
}

/** Whether a control plane is sending the committed command. */
async function isSending(videoId: string): Promise<boolean> {
  const claimed = await cluster.postgres.query(
    'select from tasks where video_id = $1 and command_claimed_until is not null',
    [videoId],
  );
  return claimed.length > 0;
}

/** Moves the command so far into the past that it counts as lost. */
async function missCommand(videoId: string): Promise<void> {
  await cluster.postgres.query(
    `update tasks set command_published_at = command_published_at - interval '16 minutes' where video_id = $1`,
    [videoId],
  );
}

test('a lost command is sent again', async () => {
  const videoId = await sendWithLostCommand();
  await missCommand(videoId);
  await cluster.api.client.videos.waitUntilReady(videoId);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

describe('control planes killed after a commit and before its command is confirmed', () => {
  test('send a command that was not sent', async () => {
    const ticket = await cluster.api.ticket();
    for (const proxy of brokerProxies()) proxy.silence(['to-target']);
    await upload(clips.short, ticket);
    await until(() => isSending(ticket.videoId));
    expect(await commandsFor(ticket.videoId)).toBe(0);

    await replaceControlPlanes();

    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('send a command again that was sent, and the video is transcoded once', async () => {
    const videoId = await sendWithLostCommand();
    // A later command was claimed, so this one counts as lost even without the broker's confirm.
    await cluster.api.client.videos.waitUntilReady(await cluster.api.send(clips.short));
    // If an engine claims the video, the control planes stop sending the command.
    for (const engine of cluster.engines) cluster.proxiesOf(engine).broker.silence(['to-client']);
    for (const proxy of brokerProxies()) proxy.silence(['to-client']);
    // As if a control plane had just found out that the command is lost. It asks the broker for that.
    await cluster.postgres.query(
      'update tasks set command_due_at = now(), command_published_at = null where video_id = $1',
      [videoId],
    );
    await until(async () => (await commandsFor(videoId)) === 2);
    expect(await isSending(videoId)).toBe(true);

    await replaceControlPlanes();

    await until(async () => (await commandsFor(videoId)) === 3);
    for (const engine of cluster.engines) cluster.proxiesOf(engine).broker.resume();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(await violationsAtRest(cluster)).toEqual([]);
    expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
    expect(await commandsFor(videoId)).toBe(3);
  });

  function brokerProxies(): TcpProxy[] {
    return cluster.controlPlanes.map((controlPlane) => cluster.proxiesOf(controlPlane).broker);
  }

  /** Kills them, expires their claims, and starts them again with the broker reachable. */
  async function replaceControlPlanes(): Promise<void> {
    await Promise.all(cluster.controlPlanes.map((controlPlane) => controlPlane.end('SIGKILL')));
    await cluster.postgres.query(
      'update tasks set command_claimed_until = now() where command_claimed_until is not null',
    );
    for (const proxy of brokerProxies()) proxy.heal();
    await Promise.all(cluster.controlPlanes.map((controlPlane) => controlPlane.start()));
  }
});

test('a broker that is down or does not confirm at the end of an upload delays no response', async () => {
  const [down, silent] = await Promise.all([cluster.api.ticket(), cluster.api.ticket()]);
  const file = await readFile(clips.short);
  await rabbitmq.flush();

  const first = await holdUpload(cluster, down, { file, fraction: 0.9 });
  await rabbitmq.kill();
  await first.sendUntil(1);
  expect(await outcomeOf(first.client)).toEqual(ACCEPTED);
  await rabbitmq.start();

  const second = await holdUpload(cluster, silent, { file, fraction: 0.9 });
  cluster.proxies.broker.silence();
  await second.sendUntil(1);
  expect(await outcomeOf(second.client)).toEqual(ACCEPTED);
  cluster.proxies.broker.heal();

  for (const { videoId } of [down, silent]) await cluster.api.client.videos.waitUntilReady(videoId);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test.each(['memory', 'disk'] as const)('a broker short of %s delays work and loses none', async (what) => {
  const { videoId: running, engine } = await beginPausedTranscode(cluster, clips.medium);
  const ticket = await cluster.api.ticket();

  await rabbitmq.setAlarm(what, true);
  try {
    await upload(clips.short, ticket);
    await until(async () => {
      const ready = await Promise.all(cluster.engines.map((engine) => engine.isReady()));
      return !ready.includes(true);
    });
    expect(await statusOf(ticket.videoId)).toBe('processing');
    expect(await statusOf(running)).toBe('processing');
    await cluster.api.ticket();
    // Engines cannot renew leases meanwhile, so the control planes let none expire.
    await until(async () => (await secondsOverdue(running)) > 3);
    expect(await outcomesOf(cluster, running)).toEqual([null]);
  } finally {
    await rabbitmq.setAlarm(what, false);
    await engine.signalPrograms('SIGCONT');
  }

  for (const id of [running, ticket.videoId]) await cluster.api.client.videos.waitUntilReady(id);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

/** Seconds since the lease of the open attempt at a video expired. */
async function secondsOverdue(videoId: string): Promise<number> {
  const [task] = await cluster.postgres.query<{ seconds: number }>(
    `select extract(epoch from now() - lease_expires_at)::float8 as seconds
    from tasks where video_id = $1`,
    [videoId],
  );
  return task?.seconds ?? Number.NaN;
}

test('an engine keeps transcoding while the control planes are down', async () => {
  const { videoId, engine } = await beginPausedTranscode(cluster, clips.medium);

  await Promise.all(cluster.controlPlanes.map((service) => service.end('SIGKILL')));
  await engine.signalPrograms('SIGCONT');
  await until(() => hasLogged([engine], 'transcode.ffmpeg_ended', videoId));
  await Promise.all(cluster.controlPlanes.map((service) => service.start()));

  await cluster.api.client.videos.waitUntilReady(videoId);
  expect(await violationsAtRest(cluster, { serverErrors: true })).toEqual([]);
});

test('the state of the installation soon names a lost engine and unavailable systems', async () => {
  const read = await signInForSystem(cluster);
  /** Waits for a state. Each response until then must come within 5 seconds, with status 200. */
  const untilState = async (seconds: number, isReached: (system: SystemState['system']) => boolean) => {
    await until(
      async () => {
        const { status, seconds: waited, system } = await read();
        expect([status, waited < 5]).toEqual([200, true]);
        return isReached(system);
      },
      { seconds },
    );
  };
  const enginesWith = (status: string, { engines }: SystemState['system']) =>
    (engines ?? []).filter((engine) => engine.status === status).length;
  const [engine] = cluster.engines;
  await untilState(30, (system) => enginesWith('working', system) === 2);

  await engine?.end('SIGKILL');
  await untilState(30, (system) => enginesWith('lost', system) === 1 && enginesWith('working', system) === 1);
  await engine?.start();
  await untilState(30, (system) => enginesWith('lost', system) === 0 && enginesWith('working', system) === 2);

  cluster.proxies.broker.cut();
  await untilState(20, ({ health, deadLetters, videos }) => {
    return health.queue.status === 'unavailable' && deadLetters === null && videos !== null;
  });
  cluster.proxies.broker.heal();
  cluster.proxies.storage.silence();
  await untilState(20, ({ health }) => health.storage.status === 'unavailable');
  cluster.proxies.storage.heal();
  await untilState(60, ({ health, deadLetters }) => {
    return Object.values(health).every(({ status }) => status !== 'unavailable') && deadLetters !== null;
  });

  cluster.proxies.database.silence();
  const { status, seconds } = await read();
  cluster.proxies.database.heal();
  expect([status, seconds < 8]).toEqual([503, true]);
  await untilState(60, ({ health }) => health.database.status !== 'unavailable');
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('a video deleted in any state leaves nothing', async () => {
  const unused = await cluster.api.ticket();
  const failed = await cluster.api.ticket();
  await sendRaw(cluster.proxies.uploads.port, { token: failed.uploadToken, body: formWith('no video') });
  await until(async () => (await statusOf(failed.videoId)) === 'failed');
  const ready = await cluster.api.send(clips.short);
  await cluster.api.client.videos.waitUntilReady(ready);
  const running = await cluster.api.send(clips.slow);
  const waiting = await Promise.all([cluster.api.send(clips.slow), cluster.api.send(clips.slow)]);
  const half = await cluster.api.ticket();
  const held = await holdUpload(cluster, half, { file: await readFile(clips.slow), fraction: 0.5 });
  await until(async () => (await statusOf(running)) === 'processing');
  const all = [unused.videoId, half.videoId, failed.videoId, ready, running, ...waiting];

  await Promise.all(all.map((id) => cluster.api.delete(id)));
  await until(() => held.client.closed || held.client.received !== '');
  held.client.disconnect();

  expect(await Promise.all(all.map(statusOf))).toEqual(all.map(() => undefined));
  expect(await violationsAtRest(cluster)).toEqual([]);
  const objects = await cluster.bucket.objects();
  const left = [...objects.keys()].filter((key) => all.some((id) => key.includes(id)));
  expect(left).toEqual([]);
});
