import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { upload } from '@framelane/client/node';
import { type RabbitMqNode, startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { type Clips, makeClips, padded } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { PostgresServer } from '../src/postgres-server.ts';
import { sendWithRetries, withRetries } from '../src/retries.ts';
import { victimsOf } from '../src/victims.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);
const SEED = testSeed();
const ROUNDS = 6;
const UPLOADS_A_ROUND = 3;

/** The client sends a file of this size as a resumable upload. */
const RESUMABLE_BYTES = 80 * 1024 ** 2;

jest.setTimeout(LOOPS * 600_000);

let postgres: PostgresServer;
let rabbitmq: RabbitMqNode;
let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  [postgres, rabbitmq] = await Promise.all([PostgresServer.start(), startRabbitMq()]);
  const own = { postgres, rabbitmq };
  [cluster, clips] = await Promise.all([
    Cluster.start({ anyStorage: true, codecs: ['av1'], ...own }),
    makeClips(),
  ]);
});
afterEach(() => cluster?.heal());
afterAll(async () => {
  await cluster?.stop();
});

test('a cluster without faults has no violations', async () => {
  const ids = await Promise.all([1, 2].map(() => sendWithRetries(cluster.api, clips.short)));
  for (const id of ids) await cluster.api.client.videos.waitUntilReady(id);
  expect(await violationsAtRest(cluster)).toEqual([]);
});

test('every accepted video becomes ready, whichever process is killed at any moment', async () => {
  const random = new Random(SEED);
  const victims = victimsOf(cluster, { postgres, rabbitmq });
  const kills = victims.map((victim) => ({ ...victim, times: 0 }));
  const videos: string[] = [];
  // A broker that has run for a while has its queue declarations on disk.
  await rabbitmq.flush();

  for (let round = 0; round < LOOPS * ROUNDS; round += 1) {
    const sending = Array.from({ length: UPLOADS_A_ROUND }, (_, n) =>
      sendWithRetries(cluster.api, clips.short, { keepSource: n === 0 ? 'never' : 'always' }),
    );
    await pause(random.fraction() * 3000);
    // Each victim once, then random ones.
    const victim = round < kills.length ? kills[round] : random.pick(kills);
    if (victim === undefined) break;
    victim.times += 1;
    await victim.kill(random);
    videos.push(...(await Promise.all(sending)));
  }

  const wrong = await violationsAtRest(cluster, { serverErrors: true });
  const states = await Promise.all(videos.map((id) => cluster.api.video(id)));
  const lost = states.filter((video) => video?.status !== 'ready');
  const tally = kills.map(({ name, times }) => `${name} ${times}`).join(', ');
  process.stdout.write(
    `Killed: ${tally}. ${videos.length} videos, ${lost.length} lost. PROPERTY_SEED=${SEED} LOOPS=${LOOPS}\n`,
  );
  expect(wrong).toEqual([]);
  expect(lost).toEqual([]);
  for (const video of states) expect(video?.sourceFile.stored).toBe(video?.keepSource === 'always');
});

test('a resumable upload arrives unchanged, although every engine is killed during it', async () => {
  const file = padded(await readFile(clips.short), RESUMABLE_BYTES);
  const ticket = await cluster.api.ticket();
  const victims = cluster.engines.map((engine, index) => ({
    engine,
    at: (index + 1) * 0.4 * file.byteLength,
  }));
  const restarts: Promise<void>[] = [];
  let continuedAt = Number.POSITIVE_INFINITY;
  await upload(new Blob([file]), ticket, {
    onProgress: ({ sent }) => {
      const [victim] = victims;
      if (victim === undefined) continuedAt = Math.min(continuedAt, sent);
      else if (sent > victim.at) {
        victims.shift();
        restarts.push(victim.engine.end('SIGKILL').then(() => victim.engine.start()));
      }
    },
  });
  expect(restarts).toHaveLength(cluster.engines.length);
  await Promise.all(restarts);
  // The tests of resumable uploads measure how much a kill loses.
  expect(continuedAt).toBeGreaterThan(0);
  const video = await cluster.api.client.videos.waitUntilReady(ticket.videoId);
  expect(video.source?.sha256).toBe(createHash('sha256').update(file).digest('hex'));
  expect(await violationsAtRest(cluster, { serverErrors: true })).toEqual([]);
});

test('captions change completely or not at all, whichever process is killed meanwhile, and need no storage', async () => {
  // Another codec would be stored after the video is ready, and change its bytes.
  const videoId = await cluster.api.send(clips.short, { codecs: ['h264'] });
  await cluster.api.client.videos.waitUntilReady(videoId);
  const { captions } = cluster.api.client;
  const before = (await cluster.api.video(videoId))?.storageBytes ?? Number.NaN;
  const fileOf = (version: number) =>
    `WEBVTT\n\n${`00:00.000 --> 00:01.000\nVersion ${version}\n\n`.repeat(2000)}`;
  const [first, second] = cluster.controlPlanes;
  const faults = [
    () => first?.end('SIGKILL').then(() => first.start()),
    () => second?.end('SIGKILL').then(() => second.start()),
    () => postgres.kill().then(() => postgres.restart()),
  ];
  const random = new Random(SEED);
  let [sent, confirmed] = [0, 0];
  for (const fault of faults) {
    let isOver = false;
    const recovery = pause(random.fraction() * 300)
      .then(fault)
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      sent += 1;
      await captions
        .set(videoId, 'en', fileOf(sent), { retries: 0 })
        .then(() => {
          confirmed = sent;
        })
        .catch(() => pause(10));
    }
    await recovery;
    const text = await withRetries(() => captions.get(videoId, 'en'));
    const versions = new Set(text.match(/Version \d+/g)?.map((version) => Number(version.slice(8))));
    const [version = 0] = versions;
    expect([versions.size, text.match(/Version/g)?.length]).toEqual([1, 2000]);
    // A change whose response was lost may be stored.
    expect(version).toBeGreaterThanOrEqual(confirmed);
    const video = await withRetries(() => cluster.api.client.videos.get(videoId));
    expect(video.captions).toMatchObject([{ language: 'en', cues: 2000, bytes: Buffer.byteLength(text) }]);
    expect(video.storageBytes).toBe(before + Buffer.byteLength(text));
  }
  cluster.proxies.storage.cut();
  await withRetries(() => captions.delete(videoId, 'en'));
  await withRetries(() => captions.set(videoId, 'de', fileOf(0)));
  cluster.proxies.storage.heal();
  expect(await violationsAtRest(cluster, { serverErrors: true })).toEqual([]);
});
