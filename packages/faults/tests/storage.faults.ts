import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { unwrap } from '@framelane/client';
import { upload } from '@framelane/client/node';
import type { Fault, Operation } from '@framelane/test-kit/fake-s3';
import { formWith } from '@framelane/test-kit/multipart';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Ticket, WORKSPACE_ID } from '../src/api.ts';
import { outcomesOf } from '../src/attempts.ts';
import { type Clips, makeClips, padded } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { HeldUpload, type Outcome, outcomeOf, sendRaw } from '../src/raw-upload.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

/** Two parts of a multipart upload. */
const LARGE_BYTES = 10_000_000;
/** This fraction of the large file has the first part. */
const FIRST_PART = 0.9;
const ACCEPTED = { status: 202, code: undefined };
const NOT_STORED = { status: 503, code: 'unavailable' };

let cluster: Cluster;
let clips: Clips;
/** A video, and bytes that players skip. */
let large: Buffer;

beforeAll(async () => {
  clips = await makeClips();
  cluster = await Cluster.start({ codecs: ['av1'] });
  large = padded(await readFile(clips.short), LARGE_BYTES);
});
afterEach(async () => {
  cluster.heal();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

function send({ uploadToken }: Ticket): Promise<Outcome> {
  return sendRaw(cluster.proxies.uploads.port, { token: uploadToken, body: formWith(large) });
}

async function hold({ uploadToken }: Ticket): Promise<HeldUpload> {
  return HeldUpload.begin(cluster.proxies.uploads.port, { token: uploadToken, file: large });
}

/** Uploads the slow clip and resolves once some of its segments are stored. */
async function beginTranscode(): Promise<string> {
  const ticket = await cluster.api.ticket();
  await upload(clips.slow, ticket);
  await until(() => storedOf('hls', ticket.videoId).length > 0, { what: 'the first segment' });
  return ticket.videoId;
}

/** Resolves when the present lease of the only task has expired, but a later one is valid. */
async function untilFirstLeaseExpired(videoId: string): Promise<void> {
  const open = 'from tasks where video_id = $1';
  const [first] = await cluster.postgres.query<{ expiry: Date }>(
    `select lease_expires_at as expiry ${open}`,
    [videoId],
  );
  const renewed = `select ${open} and $2 < now() and now() < lease_expires_at`;
  await until(async () => (await cluster.postgres.query(renewed, [videoId, first?.expiry])).length > 0);
}

function storedOf(kind: 'sources' | 'hls', videoId: string): string[] {
  return [...cluster.storage.objects.keys()].filter((key) =>
    key.startsWith(`${kind}/${WORKSPACE_ID}/${videoId}/`),
  );
}

describe('an upload', () => {
  test('of which single requests fail succeeds', async () => {
    const ticket = await cluster.api.ticket();
    cluster.storage.inject('UploadPart', 'error', 1);
    cluster.storage.inject('UploadPart', 'cut', 1);
    cluster.storage.inject('CompleteUpload', 'error', 1);
    expect(await send(ticket)).toEqual(ACCEPTED);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  });

  test('whose completion gets no response is stored once', async () => {
    const ticket = await cluster.api.ticket();
    cluster.storage.inject('CompleteUpload', 'cut-after', 1);
    expect(await send(ticket)).toEqual(ACCEPTED);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    expect(storedOf('sources', ticket.videoId)).toHaveLength(1);
  });

  test('that cannot be stored gets 503, whatever the error, and its token stays valid', async () => {
    const faults: [Operation, Fault][] = [
      ['CreateUpload', 'error'],
      ['UploadPart', 'error'],
      ['UploadPart', 'cut'],
      ['UploadPart', 'forbidden'],
      ['CompleteUpload', 'error'],
      ['CompleteUpload', 'error-in-200'],
      ['CompleteUpload', 'quiet-error-in-200'],
      ['HeadObject', 'error'],
    ];
    const tickets: Ticket[] = [];
    for (const [operation, fault] of faults) {
      const ticket = await cluster.api.ticket();
      tickets.push(ticket);
      cluster.storage.inject(operation, fault);
      expect({ operation, fault, ...(await send(ticket)) }).toEqual({ operation, fault, ...NOT_STORED });
      cluster.storage.heal();
      expect(storedOf('sources', ticket.videoId)).toEqual([]);
      expect(cluster.storage.uploads.size).toBe(0);
      expect(await send(ticket)).toEqual(ACCEPTED);
    }
    for (const { videoId } of tickets) await cluster.api.client.videos.waitUntilReady(videoId);
  });

  test('that can be neither stored nor aborted leaves nothing once its parts are purged', async () => {
    const ticket = await cluster.api.ticket();
    cluster.storage.inject('UploadPart', 'error');
    cluster.storage.inject('AbortUpload', 'error');
    expect(await send(ticket)).toEqual(NOT_STORED);
    expect(cluster.storage.uploads.size).toBe(1);
    cluster.storage.heal();
    expect(await send(ticket)).toEqual(ACCEPTED);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  });

  test('that loses its connection to the storage gets 503, and its token stays valid', async () => {
    const ticket = await cluster.api.ticket();
    const held = await hold(ticket);
    await held.sendUntil(FIRST_PART);
    await until(() => cluster.storage.uploads.size > 0);
    cluster.proxies.storage.cut();
    await held.sendUntil(1);
    expect(await outcomeOf(held.client)).toEqual(NOT_STORED);
    cluster.proxies.storage.heal();
    expect(await send(ticket)).toEqual(ACCEPTED);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  });

  test('waits for storage that stops responding', async () => {
    const ticket = await cluster.api.ticket();
    const held = await hold(ticket);
    await held.sendUntil(FIRST_PART);
    await until(() => cluster.storage.uploads.size > 0);
    cluster.proxies.storage.silence();
    const rest = held.sendUntil(1);
    // Longer than the lease on the ticket.
    const early = await Promise.race([outcomeOf(held.client), pause(8_000, 'nothing')]);
    expect(early).toBe('nothing');
    cluster.proxies.storage.heal();
    await rest;
    const outcome = await outcomeOf(held.client);
    // The reset of all connections may use up the attempts of a request.
    expect([ACCEPTED, NOT_STORED]).toContainEqual(outcome);
    if (outcome.status !== ACCEPTED.status) expect(await send(ticket)).toEqual(ACCEPTED);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  });
});

describe('a transcode', () => {
  test('that loses its connection to the storage is attempted again', async () => {
    const videoId = await beginTranscode();
    cluster.proxies.storage.cut();
    await until(async () => (await outcomesOf(cluster, videoId)).some((outcome) => outcome !== null));
    cluster.proxies.storage.heal();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect((await outcomesOf(cluster, videoId)).at(-1)).toBe('completed');
  });

  test('waits for storage that stops responding', async () => {
    const videoId = await beginTranscode();
    cluster.proxies.storage.silence();
    await untilFirstLeaseExpired(videoId);
    cluster.proxies.storage.heal();
    await cluster.api.client.videos.waitUntilReady(videoId);
    expect(await outcomesOf(cluster, videoId)).toEqual(['completed']);
  });

  test('that cannot store anything fails with the reason, and can be retried', async () => {
    cluster.storage.inject('PutObject', 'error');
    const ticket = await cluster.api.ticket();
    expect(await send(ticket)).toEqual(ACCEPTED);
    await expect(cluster.api.client.videos.waitUntilReady(ticket.videoId)).rejects.toMatchObject({
      code: 'storage_failed',
    });
    expect(await outcomesOf(cluster, ticket.videoId)).toEqual(['failed', 'failed', 'failed']);
    cluster.storage.heal();
    const params = { path: { id: ticket.videoId } };
    await unwrap(cluster.api.client.POST('/videos/{id}/retry', { params }));
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  });
});

describe('a ready video', () => {
  test('has playlists while the storage is unreachable, and segments afterwards', async () => {
    const ticket = await cluster.api.ticket({ packaging: 'ts' });
    await upload(clips.short, ticket);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    const master = cluster.api.playlistOf(ticket.videoId);
    const playlist = master.replace('master.m3u8', '360p/index.m3u8');
    const segment = master.replace('master.m3u8', '360p/0.ts');
    cluster.proxies.storage.cut();
    expect(await Promise.all([master, playlist, segment].map(statusOf))).toEqual([200, 200, 503]);
    cluster.proxies.storage.heal();
    expect(await statusOf(segment)).toBe(200);
  });

  test('that is deleted while the storage is unreachable leaves nothing afterwards', async () => {
    const ticket = await cluster.api.ticket();
    await upload(clips.short, ticket);
    await cluster.api.client.videos.waitUntilReady(ticket.videoId);
    cluster.proxies.storage.cut();
    await cluster.api.delete(ticket.videoId);
    expect(await statusOf(cluster.api.playlistOf(ticket.videoId))).toBe(404);
    expect(storedOf('hls', ticket.videoId)).not.toEqual([]);
    cluster.proxies.storage.heal();
    await until(() => storedOf('hls', ticket.videoId).length === 0);
  });
});

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}
