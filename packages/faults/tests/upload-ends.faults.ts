import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { formWith } from '@framelane/test-kit/multipart';
import { Random, testSeed } from '@framelane/test-kit/random';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Ticket } from '../src/api.ts';
import { makeClips, padded } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { HeldFile } from '../src/held-file.ts';
import { HeldUpload, outcomeOf } from '../src/raw-upload.ts';
import { holdUpload, Uploader, untilLeaseRenewed } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);
const SEED = testSeed();
const LARGE_BYTES = 15_000_000;
/** Uploads of these tests pause. A shorter lease expires when the machine is busy. */
const TIMING = { uploadLease: 12 };

jest.setTimeout(LOOPS * 300_000);

const ACCEPTED = { status: 202, code: undefined };
const random = new Random(SEED);

let cluster: Cluster;
let uploader: Uploader;
/** A video, and the same video with bytes that players skip, so that its upload takes longer. */
let clip: Buffer;
let large: Buffer;

beforeAll(async () => {
  const clips = await makeClips();
  cluster = await Cluster.start({ codecs: ['av1'], timing: TIMING });
  clip = await readFile(clips.short);
  uploader = new Uploader(cluster, clip);
  large = padded(clip, LARGE_BYTES);
  process.stdout.write(`PROPERTY_SEED=${SEED} LOOPS=${LOOPS}\n`);
});
afterEach(async () => {
  cluster.heal();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

describe('202 follows from the database', () => {
  test('no client gets 202 when the video is deleted during the upload', async () => {
    const tickets = await uploader.tickets(10);
    const uploads = await Promise.all(
      tickets.map((ticket) => holdUpload(cluster, ticket, { file: clip, fraction: 0.5 })),
    );
    await Promise.all(tickets.map(({ videoId }) => cluster.api.delete(videoId)));
    const outcomes = await Promise.all(
      uploads.map(async (held) => {
        await held.sendUntil(1);
        return outcomeOf(held.client);
      }),
    );
    const cancelled = { status: 409, code: 'upload_cancelled' };
    expect(outcomes).toContainEqual(cancelled);
    // On a busy machine a control plane may respond too late. Then the client sends the file again, and learns of the deletion.
    const busy = { status: 503, code: 'unavailable' };
    expect([cancelled, busy]).toEqual(expect.arrayContaining(outcomes));
    await until(() => tickets.flatMap((ticket) => uploader.sourcesOf(ticket)).length === 0);
  });

  test('the client does not get 202 when the ticket expires while the engine is suspended', async () => {
    const [engine] = cluster.engines as [Cluster['engines'][number]];
    const ticket = await cluster.api.ticket();
    const port = Number(new URL(engine.url).port);
    const held = await holdUpload(cluster, ticket, { file: clip, fraction: 0.5, port });
    process.kill(Number(engine.pid), 'SIGSTOP');
    try {
      await cluster.postgres.query('update upload_tickets set expires_at = now() where video_id = $1', [
        ticket.videoId,
      ]);
      await until(async () => (await cluster.api.video(ticket.videoId))?.status === 'failed');
      void held.sendUntil(1);
    } finally {
      process.kill(Number(engine.pid), 'SIGCONT');
      await engine.ready();
    }
    // The engine may renew the lease first or complete the upload first. Its own time limits expired while it was suspended.
    const { status, code } = await outcomeOf(held.client);
    expect(['401 upload_token_expired', '409 upload_cancelled', '503 unavailable']).toContain(
      `${status} ${code}`,
    );
    expect((await cluster.api.video(ticket.videoId))?.status).toBe('failed');
    await until(() => uploader.sourcesOf(ticket).length === 0);
  });

  test('the client gets 503 when the control planes are unreachable, and the event registers the file', async () => {
    const ticket = await cluster.api.ticket();
    const held = await holdUpload(cluster, ticket, { file: clip, fraction: 0.9 });
    await untilLeaseRenewed(cluster, ticket);
    cluster.proxies.internal.cut();
    await held.sendUntil(1);
    expect(await outcomeOf(held.client)).toEqual({ status: 503, code: 'unavailable' });
    cluster.proxies.internal.heal();
    await uploader.expectReady([ticket]);
    expect(await uploader.send({ token: ticket.uploadToken })).toEqual({
      status: 401,
      code: 'upload_token_used',
    });
  });

  test('the client gets 202 if the control planes are reachable again while it waits', async () => {
    const ticket = await cluster.api.ticket();
    const held = await holdUpload(cluster, ticket, { file: clip, fraction: 0.9 });
    await untilLeaseRenewed(cluster, ticket);
    cluster.proxies.internal.cut();
    await held.sendUntil(1);
    // The engine publishes this when its first request to register the file has failed.
    await until(async () => {
      const messages = await cluster.tap.messagesOn(ticket.videoId);
      return messages.some(({ type }) => type === 'upload.completed');
    });
    cluster.proxies.internal.heal();
    expect(await outcomeOf(held.client)).toEqual(ACCEPTED);
    await uploader.expectReady([ticket]);
  });
});

describe('an engine', () => {
  test('killed at any offset of an upload loses no accepted file', async () => {
    const all: Ticket[] = [];
    for (let loop = 0; loop < LOOPS * 2; loop += 1) {
      const engine = random.pick(cluster.engines);
      const tickets = await uploader.tickets(4);
      const uploads = await Promise.all(
        tickets.map(async ({ uploadToken }) => {
          const port = Number(new URL(engine.url).port);
          const held = await HeldUpload.begin(port, { token: uploadToken, file: large });
          // Some clients have sent everything.
          await held.sendUntil(Math.min(1, random.fraction() * 1.3));
          return held;
        }),
      );
      await pause(random.fraction() * 300);
      await engine.end('SIGKILL');
      const accepted = await Promise.all(
        uploads.map(async ({ client }) => {
          await until(() => client.closed);
          return client.received.startsWith('HTTP/1.1 202');
        }),
      );
      const restarted = engine.start();
      await Promise.all(
        tickets.filter((_ticket, index) => !accepted[index]).map((each) => uploader.sendUntilAccepted(each)),
      );
      await restarted;
      all.push(...tickets);
    }
    await Promise.allSettled(all.map((ticket) => uploader.expectReady([ticket])));
    const states = await Promise.all(all.map(({ videoId }) => cluster.api.video(videoId)));
    const lost = states.filter((video) => video?.status !== 'ready');
    process.stdout.write(
      `Engines killed ${LOOPS * 2} times. ${all.length} videos, ${lost.length} lost. PROPERTY_SEED=${SEED} LOOPS=${LOOPS}\n`,
    );
    expect(lost).toEqual([]);
  });

  test('killed between the last byte and its report stores the file once after a retry', async () => {
    const [engine] = cluster.engines as [Cluster['engines'][number]];
    const ticket = await cluster.api.ticket();
    cluster.storage.inject('HeadObject', 'hang', 1);
    const client = await RawClient.connect(Number(new URL(engine.url).port));
    const form = formWith(clip);
    client.sendHead({ token: ticket.uploadToken, length: form.byteLength });
    client.send(form);
    await until(() => uploader.sourcesOf(ticket).length > 0);
    await engine.end('SIGKILL');
    expect(client.received).toBe('');
    await Promise.all([engine.start(), uploader.sendUntilAccepted(ticket)]);
    await uploader.expectReady([ticket]);
    await until(() => uploader.sourcesOf(ticket).length === 1);
  });
});

describe('an import', () => {
  let file: HeldFile;
  let videoId: string;

  /** Begins an import whose server holds back the second half, and waits until the record shows some bytes. */
  beforeEach(async () => {
    file = await HeldFile.start(large);
    const secret = 'query-and-header-of-an-import';
    cluster.api.secrets.push(secret);
    const headers = { 'X-Secret': secret };
    const video = await cluster.api.client.videos.import({ url: `${file.url}?key=${secret}`, headers });
    videoId = video.id;
    await until(async () => ((await cluster.api.video(videoId))?.import?.bytes ?? 0) > 0, {
      what: 'the record shows the progress',
      seconds: 30,
    });
  });
  afterEach(() => file.stop());

  test('starts over when its engine is killed', async () => {
    await Promise.all(cluster.engines.map((engine) => engine.end('SIGKILL')));
    await until(() => file.connections === 0);
    file.release();
    await Promise.all(cluster.engines.map((engine) => engine.start()));
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(file.requests).toHaveLength(2);
    expect(file.requests[1]).not.toHaveProperty('range');
  });

  test('continues while all control planes are killed and start again', async () => {
    await Promise.all(cluster.controlPlanes.map((controlPlane) => controlPlane.end('SIGKILL')));
    await Promise.all(cluster.controlPlanes.map((controlPlane) => controlPlane.start()));
    file.release();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(file.requests).toHaveLength(1);
  });

  test('ends when the video is deleted', async () => {
    await cluster.api.delete(videoId);
    await until(() => file.connections === 0, { what: 'the engine closes the connection' });
    await until(() => uploader.sourcesOf({ videoId } as Ticket).length === 0);
    expect(file.requests).toHaveLength(1);
  });
});
