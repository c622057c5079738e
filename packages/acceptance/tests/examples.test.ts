import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { makeClip } from '../src/clips.ts';
import { runCurlLine } from '../src/curl-line.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { Leftovers } from '../src/leftovers.ts';
import { readTarget } from '../src/target.ts';

jest.setTimeout(90_000);

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const leftovers = new Leftovers(client);
const api = await ApiDescription.fetch(target.baseUrl);
const directory = await mkdtemp(join(tmpdir(), 'framelane-examples-'));

/** What the examples of the description call things by; in their place come things that are there. */
const EXAMPLE = {
  workspace: 'ws_01m7y5g5zrfqetgq22xjmkgf70',
  video: 'vid_01m7y5g5zqfqetgq1je8rn7s3t',
  key: 'key_01m7y5g5zrfqetgq284dgbj6sj',
  webhook: 'whk_01m7y5g5zrfqetgq3v7f2k8w0n',
  delivery: 'dlv_01m7y5k7a1fqetgq8m2c4x6z9p',
};

/** Resolves to nothing (RFC 6761 §6.4), so no event reaches anybody. */
const RECEIVER = 'receiver.invalid';

/** The video that the examples play. */
let clip: string;
let played: string;

beforeAll(async () => {
  clip = await makeClip(directory, {
    name: 'summer-campaign',
    width: 854,
    height: 480,
    rate: '25',
    seconds: 2,
    audio: null,
  });
  played = (await client.publish(clip)).id;
});
afterAll(async () => {
  await leftovers.remove();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('every example fits the schema it illustrates', () => {
  expect(api.complaintsAboutExamples()).toEqual([]);
});

describe('the curl lines of the description work as they are', () => {
  const lines = api.operations.flatMap(({ operationId, 'x-codeSamples': samples = [] }) =>
    samples.map(({ label, source }) => ({ operationId, label, source })),
  );

  test('every operation has some', () => {
    expect(new Set(lines.map(({ operationId }) => operationId)).size).toBe(api.operations.length);
  });

  test.each(lines)('$operationId: $label', async ({ operationId, source }) => {
    const { ids = {}, env = {} } = (await THERE_BEFORE[operationId]?.()) ?? {};
    const withRealIds = Object.entries({ [EXAMPLE.workspace]: target.workspaceId, ...ids }).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      source.replace(/(hooks\.)?example\.com/, RECEIVER),
    );
    const answer = await runCurlLine(withRealIds, {
      directory,
      env: { KEY: target.apiKey, WORKSPACE: target.workspaceId, ...env },
    });
    if (answer.status === 201) leftovers.note(await answer.clone().text());
    expect(`${answer.status} ${answer.status < 300 ? '' : await answer.clone().text()}`).toMatch(/^2\d\d $/);
    expect(await api.complaints(operationId, answer)).toEqual([]);
  });
});

type Before = { ids?: Record<string, string>; env?: Record<string, string> };

/** What must be there before an example can work: its id, in place of the one in the example. */
const THERE_BEFORE: Record<string, () => Promise<Before>> = {
  revokeApiKey: async () => ({ ids: { [EXAMPLE.key]: await newKey() } }),
  getVideo: aVideo,
  updateVideo: aVideo,
  deleteVideo: aVideo,
  createPlaybackToken: aVideo,
  retryVideo: async () => ({ ids: { [EXAMPLE.video]: await failedVideo() } }),
  uploadFile: async () => ({
    env: { TOKEN: (await client.requestTicket({ filename: 'clip.mp4' })).uploadToken },
  }),
  getMasterPlaylist: thePlayedVideo,
  getMediaPlaylist: thePlayedVideo,
  getSegment: thePlayedVideo,
  getContentKey: thePlayedVideo,
  getWebhook: aWebhook,
  updateWebhook: aWebhook,
  deleteWebhook: aWebhook,
  rotateWebhookSecret: aWebhook,
  testWebhook: aWebhook,
  listWebhookDeliveries: aWebhook,
  redeliverWebhookDelivery: async () => {
    const webhook = await newWebhook();
    const delivery = await make(`/webhooks/${webhook}/test`);
    return { ids: { [EXAMPLE.webhook]: webhook, [EXAMPLE.delivery]: delivery } };
  },
};

async function aVideo(): Promise<Before> {
  return { ids: { [EXAMPLE.video]: (await client.requestTicket({ filename: 'clip.mp4' })).videoId } };
}

async function thePlayedVideo(): Promise<Before> {
  return { ids: { [EXAMPLE.video]: played } };
}

async function aWebhook(): Promise<Before> {
  return { ids: { [EXAMPLE.webhook]: await newWebhook() } };
}

/** Failed, with its file kept, so that it can be tried again. */
async function failedVideo(): Promise<string> {
  const ticket = await client.requestTicket({ filename: 'notes.mp4' });
  await client.upload(ticket, new Blob(['not a video at all']));
  expect((await client.settled(ticket.videoId)).status).toBe('failed');
  return ticket.videoId;
}

async function newKey(): Promise<string> {
  return make('/api-keys', { name: 'Acceptance suite' });
}

async function newWebhook(): Promise<string> {
  return make('/webhooks', { url: `https://${RECEIVER}/` });
}

/** Makes something, to be removed afterwards. Resolves with its id. */
async function make(path: string, request?: object): Promise<string> {
  const text = await (await client.call('POST', path, request)).text();
  leftovers.note(text);
  return JSON.parse(text).id;
}
