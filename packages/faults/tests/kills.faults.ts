import { upload } from '@framelane/client/node';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
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

test('an undisturbed cluster is as it should be', async () => {
  const ids = await Promise.all([send(clips.short), send(clips.short)]);
  for (const id of ids) await cluster.api.client.waitUntilReady(id);
  expect(await whatIsWrong(cluster)).toEqual([]);
});
