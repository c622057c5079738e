import { readFile } from 'node:fs/promises';
import { upload } from '@framelane/client/node';
import { createMessage, type Message } from '@framelane/contracts/messages';
import { EXCHANGE } from '@framelane/contracts/topology';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { connect } from 'amqplib';
import { formWith } from '../../../services/engine/tests/support/multipart.ts';
import type { Ticket } from '../src/api.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { query } from '../src/query.ts';
import { HeldUpload, sendRaw } from '../src/raw-upload.ts';
import { until } from '../src/until.ts';
import { whatIsWrong } from '../src/what-is-wrong.ts';

jest.setTimeout(300_000);

const DEAD_EVENTS = 'control-plane.events.dead';

let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  [cluster, clips] = await Promise.all([Cluster.start(), makeClips()]);
});
afterAll(async () => {
  await cluster?.stop();
  await clips?.remove();
});

async function send(path: string): Promise<string> {
  const ticket = await cluster.api.ticket();
  await upload(path, ticket);
  return ticket.videoId;
}

async function statusOf(id: string): Promise<string | undefined> {
  return (await cluster.api.video(id))?.status;
}

/** Puts messages into the exchange as they are, in this order. */
async function publish(messages: { type: string; body: string }[]): Promise<void> {
  const connection = await connect(cluster.rabbitmq.url);
  const channel = await connection.createConfirmChannel();
  for (const { type, body } of messages) {
    channel.publish(EXCHANGE, type, Buffer.from(body), { persistent: true });
  }
  await channel.waitForConfirms();
  await connection.close();
}

function asSent(message: Message): { type: string; body: string } {
  return { type: message.type, body: JSON.stringify(message) };
}

test('messages that come twice, too late or out of order change nothing', async () => {
  const videoId = await send(clips.short);
  const video = await cluster.api.client.waitUntilReady(videoId);
  const stale = [
    createMessage('transcode', { videoId, workspaceId: video.workspaceId, sourceKey: 'sources/none' }),
    createMessage('transcode.progress', { videoId, attempt: 1, fraction: 0.5 }),
    createMessage('transcode.failed', {
      videoId,
      attempt: 1,
      code: 'transcode_failed',
      message: 'Too late.',
      retryable: false,
    }),
    createMessage('upload.completed', {
      videoId,
      transferId: 'xfr_00000000000000000000000000',
      bytes: 1,
      sha256: '0'.repeat(64),
      contentType: null,
      fileName: null,
    }),
    createMessage('upload.aborted', {
      videoId,
      transferId: 'xfr_00000000000000000000000000',
      reason: 'late',
    }),
    createMessage('upload.progress', { videoId: 'vid_nobody', transferId: 'xfr_nobody', bytes: 1 }),
  ] as Message[];

  await publish([...stale, ...stale].map(asSent));

  expect(await whatIsWrong(cluster)).toEqual([]);
  expect(await cluster.api.video(videoId)).toEqual(video);
});

test('a message that nobody can read is put away and told of; the next one is handled', async () => {
  await publish([
    { type: 'upload.completed', body: '{"id":"msg_broken"' },
    {
      type: 'transcode.progress',
      body: JSON.stringify({ id: 'msg_other', type: 'transcode.progress', version: 99 }),
    },
  ]);
  const videoId = await send(clips.short);
  await cluster.api.client.waitUntilReady(videoId);

  expect(await whatIsWrong(cluster, { deadLetters: { [DEAD_EVENTS]: 2 } })).toEqual([]);
  expect(cluster.log).toContain('message.unreadable');

  const connection = await connect(cluster.rabbitmq.url);
  const channel = await connection.createChannel();
  await channel.purgeQueue(DEAD_EVENTS);
  await connection.close();
});

test('a broker short of memory holds uploads up and loses none', async () => {
  await cluster.rabbitmq.control('set_vm_memory_high_watermark', '0.00001');
  const ticket = await cluster.api.ticket();
  let answered = false;
  const uploading = upload(clips.short, ticket)
    .catch(() => upload(clips.short, ticket))
    .finally(() => {
      answered = true;
    });
  await until(async () => !(await Promise.all(cluster.engines.map(isReady))).includes(true));
  expect(answered).toBe(false);

  await cluster.rabbitmq.control('set_vm_memory_high_watermark', '0.4');

  await uploading.catch((error: { code?: string }) => expect(error.code).toBe('upload_token_used'));
  await cluster.api.client.waitUntilReady(ticket.videoId);
  expect(await whatIsWrong(cluster)).toEqual([]);
});

async function isReady({ url }: { url: string }): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`);
  await answer.body?.cancel();
  return answer.ok;
}

test.each(['cut', 'silence'] as const)('with the broker behind a %s nothing is lost', async (fault) => {
  const videoIds = [await send(clips.long), await send(clips.short)];
  await until(async () => ((await cluster.api.video(videoIds[0] as string))?.progress ?? 0) > 0);

  cluster.doors.broker[fault]();
  await until(async () => !(await Promise.all(cluster.services.map(isReady))).includes(true));
  cluster.doors.broker.heal();

  for (const id of videoIds) await cluster.api.client.waitUntilReady(id);
  expect(await whatIsWrong(cluster)).toEqual([]);
});

function timesEncoded(videoId: string): number {
  const lines = cluster.log.split('\n');
  return lines.filter((line) => line.includes('"transcode.encoded"') && line.includes(videoId)).length;
}

test('the control planes may be away while an engine works', async () => {
  const videoId = await send(clips.long);
  await until(async () => ((await cluster.api.video(videoId))?.progress ?? 0) > 0);

  await Promise.all(cluster.controlPlanes.map((service) => service.end('SIGKILL')));
  const before = timesEncoded(videoId);
  await until(() => timesEncoded(videoId) > before);
  await Promise.all(cluster.controlPlanes.map((service) => service.start()));

  await cluster.api.client.waitUntilReady(videoId);
  expect(await whatIsWrong(cluster, { serverErrors: true })).toEqual([]);
});

/** Whether an engine has begun to take the file. */
async function isLeased({ videoId }: Ticket): Promise<boolean> {
  const rows = await query(
    cluster,
    'select from upload_tickets where video_id = $1 and transfer_id is not null',
    [videoId],
  );
  return rows.length > 0;
}

test('a video that is deleted is gone, whatever was done with it', async () => {
  const unused = await cluster.api.ticket();
  const failed = await cluster.api.ticket();
  await sendRaw(cluster.doors.uploads.port, { token: failed.uploadToken, body: formWith('no video') });
  await until(async () => (await statusOf(failed.videoId)) === 'failed');
  const ready = await send(clips.short);
  await cluster.api.client.waitUntilReady(ready);
  const running = await send(clips.long);
  const waiting = await Promise.all([send(clips.long), send(clips.long)]);
  const half = await cluster.api.ticket();
  const held = await HeldUpload.begin(cluster.doors.uploads.port, {
    token: half.uploadToken,
    file: await readFile(clips.long),
  });
  await held.sendUntil(0.5);
  await until(() => isLeased(half));
  await until(async () => (await statusOf(running)) === 'processing');
  const all = [unused.videoId, half.videoId, failed.videoId, ready, running, ...waiting];

  await Promise.all(all.map((id) => cluster.api.delete(id)));
  await until(() => held.client.closed || held.client.received !== '');
  held.client.vanish();

  expect(await Promise.all(all.map(statusOf))).toEqual(all.map(() => undefined));
  expect(await whatIsWrong(cluster)).toEqual([]);
  const left = [...cluster.storage.objects.keys()].filter((key) => all.some((id) => key.includes(id)));
  expect(left).toEqual([]);
});
