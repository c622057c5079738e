import { upload } from '@framelane/client/node';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { until } from '../src/until.ts';
import { whatIsWrong } from '../src/what-is-wrong.ts';

jest.setTimeout(300_000);

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

test('engines that are asked to stop hand back what they have, and end well', async () => {
  const videoIds = await Promise.all([send(clips.long), send(clips.long)]);
  await until(async () => {
    const videos = await Promise.all(videoIds.map((id) => cluster.api.video(id)));
    return videos.every((video) => (video?.progress ?? 0) > 0);
  });

  const codes = await Promise.all(cluster.engines.map((engine) => engine.end('SIGTERM')));
  expect(codes).toEqual([0, 0]);
  await Promise.all(cluster.engines.map((engine) => engine.start()));

  for (const id of videoIds) await cluster.api.client.waitUntilReady(id);
  expect(await whatIsWrong(cluster)).toEqual([]);
});

test('control planes that are asked to stop one after another are not missed', async () => {
  const videoIds: string[] = [];
  for (const controlPlane of cluster.controlPlanes) {
    videoIds.push(...(await Promise.all([send(clips.short), send(clips.short)])));
    expect(await controlPlane.end('SIGTERM')).toBe(0);
    videoIds.push(await send(clips.short));
    await controlPlane.start();
  }

  for (const id of videoIds) await cluster.api.client.waitUntilReady(id);
  expect(await whatIsWrong(cluster)).toEqual([]);
});
