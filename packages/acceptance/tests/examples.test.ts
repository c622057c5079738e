import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UploadTicket } from '@framelane/client';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { makeMp4 } from '../src/clips.ts';
import { CreatedResources } from '../src/created-resources.ts';
import { runCurlLine } from '../src/curl-line.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const created = new CreatedResources(client);
const api = await ApiDescription.fetch(target.baseUrl);
const directory = await mkdtemp(join(tmpdir(), 'framelane-examples-'));

/** The ids in the examples. The tests replace them with those of existing resources. */
const EXAMPLE = {
  workspace: 'ws_01m7y5g5zrfqetgq22xjmkgf70',
  video: 'vid_01m7y5g5zqfqetgq1je8rn7s3t',
  key: 'key_01m7y5g5zrfqetgq284dgbj6sj',
  webhook: 'whk_01m7y5g5zrfqetgq3v7f2k8w0n',
  delivery: 'dlv_01m7y5k7a1fqetgq8m2c4x6z9p',
  transfer: 'xfr_01m7y5g5zrfqetgq2v4ghv3p5k',
  watermark: 'wmk_01m7y5g5zrfqetgq2kbv3n8x7c',
  request: 'log_01m7y5g5zrfqetgq3aab1b2c3d',
};

/** A host name that never resolves (RFC 6761 §6.4): nobody receives the events. */
const UNRESOLVABLE_HOST = 'endpoint.invalid';

/** Captions that WebVTT and SubRip write alike. */
const CUE = '1\n00:00:00.500 --> 00:00:01.500\nSummer begins here.\n';

const CHAPTERS = [{ start: 0, title: 'Opening' }];

const POSTER = jpegOf(1280, 720);
const LOGO = pngOf(64, 32);

let clip: string;
/** The id of the video that the examples play, and of one in CMAF. */
let playableId: string;
let cmafId: string;

beforeAll(async () => {
  clip = await makeMp4(directory, {
    name: 'summer-campaign',
    width: 854,
    height: 480,
    rate: '25',
    seconds: 2,
    audio: { sampleRate: 48_000, channels: 2 },
  });
  playableId = (await client.publish(clip)).id;
  cmafId = (await client.publish(clip, { packaging: 'cmaf' })).id;
  await client.api.downloads.create(playableId, ['highest', 'audio']);
  await until(async () => (await client.api.downloads.list(playableId)).every(({ url }) => url !== null));
  await client.api.captions.set(playableId, 'en', CUE);
  await writeFile(join(directory, 'summer-campaign.en.vtt'), `WEBVTT\n\n${CUE}`);
  await writeFile(join(directory, 'summer-campaign.en.srt'), CUE);
  await client.api.chapters.set(playableId, CHAPTERS);
  await writeFile(join(directory, 'summer-campaign.chapters.vtt'), `WEBVTT\n\n${CUE}`);
  await writeFile(join(directory, 'poster.jpg'), POSTER);
  await writeFile(join(directory, 'logo.png'), LOGO);
  await writeFile(join(directory, 'logo.jpg'), POSTER);
});
afterAll(async () => {
  await created.remove();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('every example matches its schema', () => {
  expect(api.invalidExamples()).toEqual([]);
});

describe('the curl lines of the description', () => {
  const lines = api.operations.flatMap(({ operationId, 'x-codeSamples': samples = [] }) =>
    samples.map(({ label, source }) => ({ operationId, label, source })),
  );

  test('every operation has curl lines, except those of the console', () => {
    const operations = api.operations.filter(({ tags }) => !tags.includes('Console'));
    expect(new Set(lines.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test.each(lines)('$operationId: $label', async ({ operationId, source }) => {
    const { line, env } = await prepareLine(operationId, source);
    const response = await runCurlLine(line, { directory, env });
    if (response.status === 201 || operationId === 'createClip')
      created.record(await response.clone().text());
    // A failure shows the problem.
    const problem = response.ok ? '' : await response.clone().text();
    expect([response.ok, response.status, problem]).toEqual([true, expect.any(Number), '']);
    expect(await api.mismatches(operationId, response)).toEqual([]);
  });
});

/** Creates the resources that a line refers to, and replaces the ids of the examples with theirs. */
async function prepareLine(operationId: string, source: string) {
  const ids: [from: string, to: string][] = [[EXAMPLE.workspace, target.workspaceId]];
  if (source.includes(EXAMPLE.video)) ids.push([EXAMPLE.video, await videoFor(operationId, source)]);
  if (source.includes(EXAMPLE.key))
    ids.push([EXAMPLE.key, await create('/api-keys', { name: 'Acceptance suite' })]);
  if (source.includes(EXAMPLE.watermark)) {
    const { id } = await client.api.watermarks.create(LOGO, { type: 'image/png' });
    created.record(JSON.stringify({ id }));
    ids.push([EXAMPLE.watermark, id]);
  }
  if (source.includes(EXAMPLE.request)) {
    const { value } = await until(async () => {
      const first = await client.api.requests.list({ limit: 1 }).next();
      return !first.done && first;
    });
    ids.push([EXAMPLE.request, value.id]);
  }
  if (source.includes(EXAMPLE.webhook)) {
    const webhook = await create('/webhooks', { url: `https://${UNRESOLVABLE_HOST}/` });
    ids.push([EXAMPLE.webhook, webhook]);
    if (source.includes(EXAMPLE.delivery))
      ids.push([EXAMPLE.delivery, await create(`/webhooks/${webhook}/test`)]);
  }
  const ticket = await client.requestTicket({ filename: 'clip.mp4' });
  if (source.includes(EXAMPLE.transfer)) ids.push([EXAMPLE.transfer, await createUpload(ticket)]);
  return {
    line: ids.reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      source.replace(/(hooks\.)?example\.com/, UNRESOLVABLE_HOST),
    ),
    env: { KEY: target.apiKey, WORKSPACE: target.workspaceId, TOKEN: ticket.uploadToken },
  };
}

/** The id of a video on which the operation succeeds: ready, failed, or without a file. */
async function videoFor(operationId: string, source: string): Promise<string> {
  if (['getCmafSegment', 'getInitialization'].includes(operationId)) return cmafId;
  if (source.includes('/hls/') || operationId === 'getVideoSource' || operationId === 'createClip')
    return playableId;
  if (operationId === 'retryVideo' || operationId === 'deleteVideoSource') return failedVideo();
  const { videoId } = await client.requestTicket({ filename: 'clip.mp4' });
  if (/^(get|update|delete)Captions$/.test(operationId)) await client.api.captions.set(videoId, 'en', CUE);
  if (['getChaptersFile', 'deleteChapters'].includes(operationId))
    await client.api.chapters.set(videoId, CHAPTERS);
  if (operationId === 'deleteDownload') await client.api.downloads.create(videoId, ['highest']);
  if (operationId === 'deletePoster') await client.api.videos.setPoster(videoId, POSTER);
  return videoId;
}

/** The id of a failed video. Its source is stored, so it can be retried. */
async function failedVideo(): Promise<string> {
  const ticket = await client.requestTicket({ filename: 'notes.mp4' });
  await client.upload(ticket, new Blob(['not a video at all']));
  expect((await client.settled(ticket.videoId)).status).toBe('failed');
  return ticket.videoId;
}

/** Creates a resumable upload of the clip. Resolves with its id. */
async function createUpload({ tusUrl, uploadToken }: UploadTicket): Promise<string> {
  const { size } = await stat(clip);
  const response = await fetch(tusUrl, {
    method: 'POST',
    headers: { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': uploadToken, 'Upload-Length': String(size) },
  });
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

/** Creates a resource, which the tests delete at their end. Resolves with its id. */
async function create(path: string, request?: object): Promise<string> {
  const text = await (await client.call('POST', path, request)).text();
  created.record(text);
  return JSON.parse(text).id;
}
