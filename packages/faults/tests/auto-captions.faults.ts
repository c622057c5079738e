import type { ServerResponse } from 'node:http';
import { SpeechServer } from '@framelane/test-kit/speech';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

jest.setTimeout(300_000);

const ANSWER = { language: 'en', segments: [{ start: 0.5, end: 1.5, text: 'Heard.' }] };

let cluster: Cluster;
let clips: Clips;
/** It answers as the tests say; its own recogniser is not used. */
let recogniser: SpeechServer;
/** Requests that it does not answer. */
let waiting: ServerResponse[] = [];
/** Ready. Each test leaves it without captions. */
let videoId: string;

beforeAll(async () => {
  recogniser = await SpeechServer.start(['Heard.']);
  const env = { RECOGNIZER_URL: recogniser.url, RECOGNIZER_TIMEOUT_SECONDS: '15' };
  [cluster, clips] = await Promise.all([Cluster.start({ timing: { taskLease: 8 }, env }), makeClips()]);
  videoId = await cluster.api.send(clips.short);
  await cluster.api.client.videos.waitUntilReady(videoId);
});
afterEach(async () => {
  cluster.heal();
  answer();
  // A test that fails may have left a service killed.
  await Promise.all(cluster.services.filter(({ pid }) => pid === undefined).map((each) => each.start()));
});
afterAll(async () => {
  await cluster?.stop();
  await recogniser?.stop();
});

/** The recogniser answers all requests from now on, and those that wait. */
function answer(): void {
  const send = (response: ServerResponse) => void response.end(JSON.stringify(ANSWER));
  recogniser.answer = send;
  for (const response of waiting) send(response);
  waiting = [];
}

function hang(): void {
  recogniser.answer = (response) => void waiting.push(response);
}

const generate = () => cluster.api.client.captions.generate(videoId, true);
const state = async () => (await cluster.api.video(videoId))?.autoCaptions[0];
const remove = () => cluster.api.client.captions.delete(videoId, 'en');

/** Asks for captions. Resolves with the engine that waits for the recogniser. */
async function pauseTranscript(): Promise<ServiceProcess> {
  hang();
  await generate();
  await until(() => waiting.length > 0);
  const started = (each: ServiceProcess) =>
    logged([each], 'task.started').filter(({ kind }) => kind === 'transcript').length -
    logged([each], 'task.finished').filter(({ kind }) => kind === 'transcript').length;
  const engine = cluster.engines.find((each) => each.pid !== undefined && started(each) > 0);
  if (engine === undefined) throw new Error('No engine has begun the transcript');
  return engine;
}

/** Waits until the captions are ready, and checks that they exist once. */
async function expectReady(): Promise<void> {
  await until(async () => (await state())?.status === 'ready');
  expect((await cluster.api.video(videoId))?.captions).toMatchObject([
    { language: 'en', origin: 'machine', cues: 1 },
  ]);
  expect(await violationsAtRest(cluster)).toEqual([]);
  await remove();
}

describe('captions by a machine become ready', () => {
  test('after their engine was killed', async () => {
    const engine = await pauseTranscript();
    await engine.end('SIGKILL');
    answer();
    await engine.start();
    await expectReady();
  });

  test('after all control planes were killed', async () => {
    await pauseTranscript();
    await Promise.all(cluster.controlPlanes.map((each) => each.end('SIGKILL')));
    answer();
    await Promise.all(cluster.controlPlanes.map((each) => each.start()));
    await expectReady();
  });

  test('after the broker was cut off', async () => {
    await pauseTranscript();
    await cluster.proxies.broker.cut();
    answer();
    await cluster.proxies.broker.heal();
    await expectReady();
  });

  test('after their engine was stopped: it leaves a request that hangs at once, and another engine goes on', async () => {
    const engine = await pauseTranscript();
    await engine.end('SIGTERM');
    answer();
    await expectReady();
    await engine.start();
  });
});

test('a recogniser that hangs delays no video, and a video that is deleted meanwhile leaves nothing behind', async () => {
  await pauseTranscript();
  const other = await cluster.api.send(clips.short);
  await cluster.api.client.videos.waitUntilReady(other);
  expect((await state())?.status).toBe('preparing');
  await cluster.api.client.captions.generate(other, ['en']);
  await cluster.api.client.videos.delete(other);
  answer();
  await expectReady();
});

test('a recogniser that fails for good does not affect the video', async () => {
  recogniser.answer = (response) => void response.writeHead(404).end();
  await generate();
  await until(async () => (await state())?.status === 'failed');
  expect(await state()).toMatchObject({ error: { code: 'transcription_failed' } });
  expect(await cluster.api.video(videoId)).toMatchObject({ status: 'ready', error: null, captions: [] });
  expect(await violationsAtRest(cluster)).toEqual([]);
  answer();
  await generate();
  await expectReady();
});
