import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Video } from '@framelane/client';
import { FakeService } from '@framelane/test-kit/fake-service';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { exportLibrary } from './export-library.ts';
import { type ExportContext, readJson } from './export-video.ts';

const ID = `vid_${'1'.repeat(26)}`;
const SOURCE = Buffer.from('the uploaded file');
const sha256 = createHash('sha256').update(SOURCE).digest('hex');
const path = `/v1/videos/${ID}`;

let folder: string;
let framelane: FakeService;
let video: Video;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-export-'));
  framelane = await FakeService.start({
    'GET /v1/videos': () => ({ body: { data: [video], nextCursor: null } }),
    [`POST ${path}/playback-tokens`]: { status: 201, body: { token: 'play-token' } },
    [`GET ${path}/source`]: { body: SOURCE },
    [`GET ${path}/captions/en`]: { body: 'WEBVTT' },
    [`GET ${path}/chapters`]: { body: { chapters: [{ start: 0, title: 'One' }] } },
    [`POST ${path}/downloads`]: { status: 202, body: { data: [] } },
    [`GET ${path}/downloads`]: () => ({
      body: {
        data: [{ file: 'highest', status: 'ready', url: `${framelane.url}/highest.mp4`, error: null }],
      },
    }),
    [`DELETE ${path}/downloads/highest`]: { status: 204 },
    'GET /highest.mp4': { body: 'mp4' },
    'GET /poster.jpg': { body: 'jpg' },
  });
  video = {
    id: ID,
    status: 'ready',
    title: 'A/B',
    filename: 'a.mov',
    tags: [],
    metadata: {},
    passthrough: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    readyAt: '2026-01-01T00:01:00.000Z',
    playbackPolicy: 'signed',
    size: SOURCE.length,
    source: { sha256 },
    sourceFile: { stored: true },
    downloads: [],
    captions: [{ language: 'en', label: 'English', default: true }],
    chapterCount: 1,
    thumbnail: `${framelane.url}/poster.jpg`,
    storageBytes: 7,
  } as unknown as Video;
});
afterEach(async () => {
  await framelane[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function run(context: Partial<ExportContext> = {}) {
  const connection = { baseUrl: `${framelane.url}/v1`, apiKey: 'svc_live_secret', workspaceId: 'ws_1' };
  return exportLibrary(
    { folder, query: {}, concurrency: 1, onEntry: () => {} },
    {
      client: createClient({ ...connection, retries: 0 }),
      connection,
      sources: true,
      renditions: ['highest'],
      signal: AbortSignal.timeout(60_000),
      ...context,
    },
  );
}

const calls = () => framelane.requests.map(({ method, path: called }) => `${method} ${called}`);
const inFolder = (name = '') => join(folder, `A_B-${ID}`, name);

test('a video with everything that it has; what was made for the export is deleted', async () => {
  expect(await run()).toMatchObject({ exported: 1, failed: 0, bytes: SOURCE.length + 3 });
  expect((await readdir(inFolder())).sort()).toEqual([
    'captions.en.vtt',
    'chapters.json',
    'highest.mp4',
    'poster.jpg',
    'source.mov',
    'video.json',
  ]);
  expect(await readJson(inFolder('video.json'))).toMatchObject({
    format: 'framelane-video',
    record: { id: ID, title: 'A/B' },
    files: {
      source: { name: 'source.mov', bytes: SOURCE.length },
      downloads: [{ file: 'highest', name: 'highest.mp4', bytes: 3 }],
      captions: [{ name: 'captions.en.vtt', language: 'en', label: 'English', default: true }],
    },
  });
  expect(calls()).toContain(`DELETE ${path}/downloads/highest`);
  expect(JSON.parse(await readFile(join(folder, 'library.json'), 'utf8'))).toMatchObject({
    format: 'framelane-library',
    videos: [{ folder: `A_B-${ID}`, record: { id: ID } }],
  });
});

test('the API key is sent to the API only, and the token to media only', async () => {
  await run();
  for (const { path: called, query, headers } of framelane.requests) {
    const isApi = called.startsWith('/v1/');
    expect({ called, key: 'authorization' in headers, token: query.has('token') }).toEqual({
      called,
      key: isApi,
      token: !isApi,
    });
  }
});

test('a second run fetches no media, keeps the folder although the title has changed, and no other download', async () => {
  await run();
  framelane.requests.length = 0;
  video.title = 'Another';
  await run();
  expect(await readdir(folder)).toEqual([`A_B-${ID}`, 'library.json']);
  expect(calls()).not.toContain(`GET ${path}/source`);
  expect(calls()).not.toContain(`POST ${path}/downloads`);
});

test('a description that is damaged is written again', async () => {
  await run();
  await writeFile(inFolder('video.json'), '{');
  expect(await run()).toMatchObject({ exported: 1 });
  expect(await readJson(inFolder('video.json'))).toMatchObject({ record: { id: ID } });
});

test('a source with another checksum is reported, and not taken for complete', async () => {
  framelane.on(`GET ${path}/source`, { body: Buffer.alloc(SOURCE.length) });
  expect(await run()).toMatchObject({
    failed: 1,
    items: [{ error: 'The uploaded file was damaged during the download. Run the command again.' }],
  });
  expect(await readdir(inFolder())).toEqual(['source.mov.damaged']);
});

test('a rendition that the video does not have is a warning, and the others are fetched', async () => {
  framelane.on(`POST ${path}/downloads`, ({ body }) => {
    if (JSON.parse(body).files[0] === 'highest') return { status: 202, body: { data: [] } };
    const detail = 'This video has no 1080p rendition. It has 360p.';
    return { status: 409, body: { code: 'rendition_not_available', detail, requestId: 'req_1' } };
  });
  const { exported, items } = await run({ renditions: ['1080p', 'highest'] });
  expect({ exported, warnings: items[0]?.warnings }).toEqual({
    exported: 1,
    warnings: ['1080p.mp4: This video has no 1080p rendition. It has 360p.'],
  });
  expect(await readdir(inFolder())).toContain('highest.mp4');
});

test('a rendition that could not be made is a warning', async () => {
  const error = { code: 'download_failed', message: 'The file could not be made.' };
  const failed = { file: 'highest', status: 'failed', url: null, error };
  framelane.on(`GET ${path}/downloads`, { body: { data: [failed] } });
  const { items } = await run();
  expect(items[0]?.warnings).toEqual(['highest.mp4: The file could not be made.']);
});

test('a rendition that somebody deletes before it is ready is a warning', async () => {
  framelane.on(`GET ${path}/downloads`, { body: { data: [] } });
  const { items } = await run();
  expect(items[0]?.warnings).toEqual(['highest.mp4: Somebody has deleted the file meanwhile.']);
});

test('a download that was there before stays', async () => {
  video.downloads = [{ file: 'highest', status: 'ready', url: 'x' }] as unknown as Video['downloads'];
  await run();
  expect(calls().filter((call) => /^(POST|DELETE) .*downloads/.test(call))).toEqual([]);
});

test('without a stored source and without renditions, the record alone is a warning', async () => {
  video.sourceFile.stored = false;
  const { items } = await run({ renditions: [] });
  expect(items[0]?.warnings).toEqual([
    'The uploaded file is not stored any more.',
    'It has no media file in the export.',
  ]);
});
