import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { makeMp4 } from '../src/clips.ts';
import { CreatedResources } from '../src/created-resources.ts';
import { runCurlLine } from '../src/curl-line.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

jest.setTimeout(90_000);

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const created = new CreatedResources(client);
const api = await ApiDescription.fetch(target.baseUrl);
const directory = await mkdtemp(join(tmpdir(), 'framelane-examples-'));

/** Ids in the examples. The tests replace them with existing ones. */
const EXAMPLE = {
  workspace: 'ws_01m7y5g5zrfqetgq22xjmkgf70',
  video: 'vid_01m7y5g5zqfqetgq1je8rn7s3t',
  key: 'key_01m7y5g5zrfqetgq284dgbj6sj',
  webhook: 'whk_01m7y5g5zrfqetgq3v7f2k8w0n',
  delivery: 'dlv_01m7y5k7a1fqetgq8m2c4x6z9p',
};

/** Never resolves (RFC 6761 §6.4), so no event is sent to anyone. */
const RECEIVER = 'receiver.invalid';

/** The video that the examples play. */
let clip: string;
let played: string;

beforeAll(async () => {
  clip = await makeMp4(directory, {
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
  await created.remove();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('every example matches its schema', () => {
  expect(api.complaintsAboutExamples()).toEqual([]);
});

describe('the curl lines of the description work unchanged', () => {
  const lines = api.operations.flatMap(({ operationId, 'x-codeSamples': samples = [] }) =>
    samples.map(({ label, source }) => ({ operationId, label, source })),
  );

  test('every operation has curl lines', () => {
    expect(new Set(lines.map(({ operationId }) => operationId)).size).toBe(api.operations.length);
  });

  test.each(lines)('$operationId: $label', async ({ operationId, source }) => {
    const { line, env } = await withWhatItNeeds(operationId, source);
    const response = await runCurlLine(line, { directory, env });
    if (response.status === 201) created.record(await response.clone().text());
    expect(`${response.status} ${response.status < 300 ? '' : await response.clone().text()}`).toMatch(
      /^2\d\d $/,
    );
    expect(await api.complaints(operationId, response)).toEqual([]);
  });
});

/** Creates what a line refers to and replaces the ids of the example. */
async function withWhatItNeeds(operationId: string, source: string) {
  const names = (thing: string) => source.includes(thing);
  const ids: [from: string, to: string][] = [[EXAMPLE.workspace, target.workspaceId]];
  if (names(EXAMPLE.video)) ids.push([EXAMPLE.video, await videoFor(operationId, source)]);
  if (names(EXAMPLE.key)) ids.push([EXAMPLE.key, await make('/api-keys', { name: 'Acceptance suite' })]);
  if (names(EXAMPLE.webhook)) {
    const webhook = await make('/webhooks', { url: `https://${RECEIVER}/` });
    ids.push([EXAMPLE.webhook, webhook]);
    if (names(EXAMPLE.delivery)) ids.push([EXAMPLE.delivery, await make(`/webhooks/${webhook}/test`)]);
  }
  const { uploadToken } = await client.requestTicket({ filename: 'clip.mp4' });
  return {
    line: ids.reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      source.replace(/(hooks\.)?example\.com/, RECEIVER),
    ),
    env: { KEY: target.apiKey, WORKSPACE: target.workspaceId, TOKEN: uploadToken },
  };
}

/** A ready video, a failed one, or one without a file, which may be deleted. */
async function videoFor(operationId: string, source: string): Promise<string> {
  if (source.includes('/hls/')) return played;
  if (operationId === 'retryVideo') return failedVideo();
  return (await client.requestTicket({ filename: 'clip.mp4' })).videoId;
}

/** A failed video that still has its file and can be retried. */
async function failedVideo(): Promise<string> {
  const ticket = await client.requestTicket({ filename: 'notes.mp4' });
  await client.upload(ticket, new Blob(['not a video at all']));
  expect((await client.settled(ticket.videoId)).status).toBe('failed');
  return ticket.videoId;
}

/** Creates something, deletes it after the tests, and resolves with its id. */
async function make(path: string, request?: object): Promise<string> {
  const text = await (await client.call('POST', path, request)).text();
  created.record(text);
  return JSON.parse(text).id;
}
