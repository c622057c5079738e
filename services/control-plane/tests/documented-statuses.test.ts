import { newId } from '@framelane/contracts/ids';
import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import { type ImageName, imageKey, segmentKey } from '@framelane/object-store/object-keys';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import express from 'express';
import { sql } from 'kysely';
import request, { type Response } from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { CONSOLE_ORIGIN, createCode, signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { makeDownload, makePicture } from './support/derivations.ts';
import {
  type DocumentedResponse,
  documentedResponses,
  withUnknownIds,
} from './support/documented-responses.ts';
import { FOLDER } from './support/manifest.ts';
import { localWebhooks } from './support/webhooks.ts';

/** Gets every response that the contract documents. The test of a documented response fails if this file has no request for it. */

type Credentials = Record<string, string>;
type Call = { path: string; body?: object | string; type?: string; headers?: Credentials };
type SendFor = (documented: DocumentedResponse) => Promise<Response>;

let plane: TestControlPlane;
/**
 * Two more control planes on the database of `plane`: one with a limit of one request a minute, and one that
 * redirects segments.
 */
let limited: { url: string };
let redirecting: { url: string };
/** Two control planes: one with an empty database, and one that cannot reach its database. */
let broken: TestControlPlane;
let unconnected: TestControlPlane;
let databaseProxy: TcpProxy;

beforeAll(async () => {
  databaseProxy = await TcpProxy.startFor(process.env.TEST_DATABASE_URL ?? '');
  [plane, broken, unconnected] = await Promise.all([
    startControlPlane((config) => ({ ...localWebhooks(config), hasRecognizer: true }), {
      presign: async (key) => `https://objects.example/${key}`,
    }),
    startControlPlane((config) => ({ ...config, hasRecognizer: true })),
    startControlPlane((config) => ({
      ...config,
      hasRecognizer: true,
      databaseUrl: databaseProxy.through(config.databaseUrl),
    })),
  ]);
  limited = await plane.startAnother({
    rateLimits: { requestsPerMinute: 1, failuresPerMinute: 0 },
    analytics: { enabled: true, retentionDays: 400, countryHeader: undefined, beaconsPerMinute: 1 },
  });
  redirecting = await plane.startAnother({ playback: { mode: 'redirect', cdnUrl: undefined } });
  await sql`drop schema public cascade`.execute(broken.db);
  databaseProxy.cut();
  secrets.add(plane.apiKey);
});
afterAll(async () => {
  databaseProxy.heal();
  await Promise.all([plane.stop(), broken.stop(), unconnected.stop()]);
  await databaseProxy.stop();
});
afterEach(() => void jest.restoreAllMocks());

/** A set-up that runs once for the same arguments. Requests that only read share it. */
function shared<Args extends unknown[], T>(
  setUp: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args);
    const result = known.get(key) ?? setUp(...args);
    known.set(key, result);
    return result;
  };
}

type Policy = 'public' | 'signed';

/** Sends one request; the response body is bytes for every type. */
function send(
  { method }: Pick<DocumentedResponse, 'method'>,
  { path, body, type = 'application/json', headers: own }: Call,
  { headers = plane.credentials, url = plane.url }: { headers?: Credentials; url?: string } = {},
) {
  const sent = request(url)
    [method](`/v1${path}`)
    .set({ ...own, ...headers })
    .redirects(0)
    .responseType('blob');
  return body === undefined ? sent : sent.type(type).send(body);
}

/** A key for a workspace of its own. */
async function newWorkspace(): Promise<Credentials> {
  const workspaceId = newId('ws');
  await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
  return newKey(workspaceId);
}

async function newKey(workspaceId = plane.workspaceId): Promise<Credentials> {
  const secret = newApiKeySecret('live');
  await createFullKey(plane.db, { workspaceId, name: 'Test', secret });
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
}

/** Creates a resource. Resolves with its id. */
async function create(path: string, body: object): Promise<string> {
  const response = await request(plane.url).post(`/v1${path}`).set(plane.credentials).send(body);
  if (response.status >= 300) throw new Error(`Not created: ${response.text}`);
  return response.body.id;
}

const newWebhook = () => create('/webhooks', { url: 'http://127.0.0.1:9/' });
const newDelivery = async () => {
  const webhook = await newWebhook();
  return `/webhooks/${webhook}/deliveries/${await create(`/webhooks/${webhook}/test`, {})}`;
};
const newVideo = async () => `/videos/${(await plane.ticket()).videoId}`;

const CAPTIONS = { body: 'WEBVTT\n\n00:01.000 --> 00:02.000\nA\n', type: 'text/vtt' };

const CHAPTERS = { body: { chapters: [{ start: 0, title: 'Opening' }] }, type: 'application/json' };

const POSTER = { body: jpegOf(640, 360), type: 'image/jpeg' };

const WATERMARK = { body: pngOf(64, 32), type: 'image/png' };

/** The URL of an image for watermarks. */
async function watermark(): Promise<string> {
  const { body } = await send({ method: 'post' }, { ...WATERMARK, path: '/watermarks' });
  return `/watermarks/${JSON.parse(body.toString()).id}`;
}

/** The URL of a poster that was set. */
async function poster(): Promise<string> {
  const path = `${await newVideo()}/poster`;
  await send({ method: 'put' }, { ...POSTER, path });
  return path;
}

/** The URL of existing captions, or of captions in another language, which do not exist. */
async function captions(language = 'en'): Promise<string> {
  const path = `${await newVideo()}/captions`;
  await send({ method: 'put' }, { ...CAPTIONS, path: `${path}/en` });
  return `${path}/${language}`;
}

/** The URL of a download of a ready video, which is being prepared. */
async function download(): Promise<string> {
  const { videoId } = await plane.readyVideo();
  await send(
    { method: 'post' },
    { path: `/videos/${videoId}/downloads`, body: { files: ['480p', 'audio'] } },
  );
  return `/videos/${videoId}/downloads/480p`;
}

/** The URL of the file of a download that is ready. */
const downloadedFile = shared(async (file: '480p.mp4' | 'audio.m4a', policy: Policy = 'public') => {
  const [, , videoId = ''] = (await download()).split('/');
  for (let made = 0; made < 2; made += 1) await makeDownload(plane, videoId, Buffer.alloc(1000));
  await plane.db.updateTable('videos').set({ playback_policy: policy }).where('id', '=', videoId).execute();
  return `/hls/${plane.workspaceId}/${videoId}/downloads/${file}`;
});

/** The pictures, by operation. */
const PICTURES: Record<string, string> = {
  getThumbnailJpeg: 'thumbnail.jpg',
  getThumbnailWebp: 'thumbnail.webp',
  getPreviewWebp: 'preview.webp',
  getPreviewGif: 'preview.gif',
};

/** The id of a request in the log. */
const loggedRequest = shared(async () => {
  const { id } = await until(async () => {
    await send({ method: 'get' }, { path: '/auth/whoami' });
    return plane.db
      .selectFrom('request_log')
      .select('id')
      .where('workspace_id', '=', plane.workspaceId)
      .executeTakeFirst();
  });
  return id;
});

/** The URL of a picture that is made. */
const picture = shared(async (name: string, policy: Policy = 'public') => {
  const { videoId } = await plane.readyVideo();
  const path = `/hls/${plane.workspaceId}/${videoId}/${name}`;
  await Promise.all([send({ method: 'get' }, { path }), makePicture(plane, videoId, Buffer.alloc(1000))]);
  await plane.db.updateTable('videos').set({ playback_policy: policy }).where('id', '=', videoId).execute();
  return path;
});

/** The URL of a video with chapters, and of its chapters. */
async function withChapters(): Promise<string> {
  const path = await newVideo();
  await send({ method: 'put' }, { ...CHAPTERS, path: `${path}/chapters` });
  return path;
}

async function failedVideo(): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.fail(videoId, attempt, { code: 'transcode_failed', message: 'It did not work.' });
  return `/videos/${videoId}`;
}

const stream = shared(async (policy: Policy = 'public') => {
  const { videoId } = await plane.readyVideo();
  await send({ method: 'put' }, { ...CAPTIONS, path: `/videos/${videoId}/captions/en` });
  await send({ method: 'put' }, { ...CHAPTERS, path: `/videos/${videoId}/chapters` });
  await plane.db.updateTable('videos').set({ playback_policy: policy }).where('id', '=', videoId).execute();
  return `/hls/${plane.workspaceId}/${videoId}`;
});

/** The player page of a ready video. */
async function embed(policy: Policy = 'public'): Promise<string> {
  return (await stream(policy)).replace('/hls/', '/embed/');
}

/** A stored segment of each packaging, and the rendition that it belongs to. */
const segmentIn = (packaging: PackagingName) =>
  shared(async () => {
    const { videoId } = await plane.readyVideo(packaging);
    const output = { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER };
    const { contentType } = PACKAGINGS[packaging];
    await plane.objects.put(segmentKey(output, '360p', 0, packaging), Buffer.alloc(480_000), contentType);
    return `/hls/${plane.workspaceId}/${videoId}/360p`;
  });
const renditionInTs = segmentIn('ts');
const renditionInCmaf = segmentIn('cmaf');

async function image(name: ImageName): Promise<Call> {
  const path = await stream();
  const videoId = path.slice(path.lastIndexOf('/') + 1);
  const key = imageKey({ workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER }, name);
  // The sizes in the sample manifest.
  await plane.objects.put(key, Buffer.alloc(name === 'poster.jpg' ? 40_000 : 60_000), 'image/jpeg');
  return { path: `${path}/${name}` };
}

/** The URLs of a stream that need an API key or a token if the video is signed. */
const PARTS: Record<string, string> = {
  getMasterPlaylist: '/master.m3u8',
  getAudioPlaylist: '/audio.m3u8',
  getMediaPlaylist: '/360p/index.m3u8',
  getCaptionsPlaylist: '/captions/en/1/index.m3u8',
  getCaptionsSegment: '/captions/en/1/0.vtt',
  getPlaybackChapters: '/chapters.json',
  getPlaybackChaptersFile: '/chapters.vtt',
  getContentKey: '/key',
  getPoster: '/poster.jpg',
  getStoryboard: '/storyboard.vtt',
  getStoryboardImage: '/storyboard.jpg',
};

/** A successful request of each operation. */
const SUCCESSES: Record<string, () => Promise<Call>> = {
  getWhoami: async () => ({ path: '/auth/whoami' }),
  createConsoleSession: async () => ({ ...SIGN_IN, body: { code: await createCode(plane) } }),
  listConsoleSessions: async () => ({ path: '/console/sessions?limit=1' }),
  revokeConsoleSession: async () => ({ path: `/console/sessions/${(await signIn(plane)).id}` }),
  revokeConsoleSessions: async () => ({ path: '/console/sessions' }),
  getAnalytics: async () => ({ path: '/analytics?groupBy=day' }),
  getVideoAnalytics: async () => ({ path: `/analytics${await newVideo()}` }),
  getUsage: async () => ({ path: '/auth/usage?groupBy=day' }),
  listApiKeys: async () => ({ path: '/api-keys?limit=1' }),
  createApiKey: async () => ({ path: '/api-keys', body: { name: 'New' } }),
  revokeApiKey: async () => ({ path: `/api-keys/${await create('/api-keys', { name: 'Old' })}` }),
  createUploadTicket: async () => ({ path: '/videos/upload-ticket', body: { filename: 'a.mp4' } }),
  importVideo: async () => ({ path: '/videos/import', body: { url: 'https://media.example.com/a.mp4' } }),
  listVideos: async () => ({ path: '/videos?limit=1' }),
  listTags: async () => ({ path: '/tags' }),
  getVideo: async () => ({ path: await newVideo() }),
  getVideoTimeline: async () => ({ path: `${await newVideo()}/timeline` }),
  updateVideo: async () => ({ path: await newVideo(), body: { title: 'New' } }),
  deleteVideo: async () => ({ path: await newVideo() }),
  retryVideo: async () => ({ path: `${await failedVideo()}/retry` }),
  getVideoSource: async () => ({ path: `${await failedVideo()}/source` }),
  deleteVideoSource: async () => ({ path: `${await failedVideo()}/source` }),
  listCaptions: async () => ({ path: `${await newVideo()}/captions` }),
  getCaptions: async () => ({ path: await captions() }),
  setCaptions: async () => ({ path: await captions('de'), ...CAPTIONS }),
  updateCaptions: async () => ({ path: await captions(), body: { default: true } }),
  deleteCaptions: async () => ({ path: await captions() }),
  createClip: async () => ({
    path: `/videos/${(await plane.readyVideo()).videoId}/clips`,
    body: { start: 1, end: 3 },
  }),
  listDownloads: async () => ({ path: `${await newVideo()}/downloads` }),
  createDownloads: async () => ({ path: `${await newVideo()}/downloads`, body: { files: ['480p'] } }),
  generateCaptions: async () => ({
    path: `${await newVideo()}/captions/generate`,
    body: { autoCaptions: true },
  }),
  deleteDownload: async () => ({ path: await download() }),
  getChapters: async () => ({ path: `${await newVideo()}/chapters` }),
  getChaptersFile: async () => ({ path: `${await withChapters()}/chapters.vtt` }),
  setChapters: async () => ({ path: `${await newVideo()}/chapters`, ...CHAPTERS }),
  deleteChapters: async () => ({ path: `${await withChapters()}/chapters` }),
  setPoster: async () => ({ path: `${await newVideo()}/poster`, ...POSTER }),
  deletePoster: async () => ({ path: await poster() }),
  createWatermark: async () => ({ path: '/watermarks', ...WATERMARK }),
  listWatermarks: async () => ({ path: '/watermarks' }),
  getWatermark: async () => ({ path: await watermark() }),
  getWatermarkImage: async () => ({ path: `${await watermark()}/image` }),
  deleteWatermark: async () => ({ path: await watermark() }),
  createPlaybackToken: async () => ({ path: `${await newVideo()}/playback-tokens`, body: {} }),
  listEvents: async () => ({ path: '/events' }),
  listRequests: async () => ({ path: '/requests?limit=1' }),
  getRequest: async () => ({ path: `/requests/${await loggedRequest()}` }),
  listRequestErrors: async () => ({ path: '/request-errors' }),
  listAuditEvents: async () => ({ path: '/audit-events?limit=1' }),
  exportAuditEvents: async () => ({ path: '/audit-events/csv' }),
  listWebhooks: async () => ({ path: '/webhooks?limit=1' }),
  createWebhook: async () => ({ path: '/webhooks', body: { url: 'http://127.0.0.1:9/' } }),
  getWebhook: async () => ({ path: `/webhooks/${await newWebhook()}` }),
  updateWebhook: async () => ({ path: `/webhooks/${await newWebhook()}`, body: { enabled: false } }),
  deleteWebhook: async () => ({ path: `/webhooks/${await newWebhook()}` }),
  rotateWebhookSecret: async () => ({ path: `/webhooks/${await newWebhook()}/rotate-secret` }),
  testWebhook: async () => ({ path: `/webhooks/${await newWebhook()}/test` }),
  listWebhookDeliveries: async () => ({ path: `/webhooks/${await newWebhook()}/deliveries` }),
  getWebhookDelivery: async () => ({ path: await newDelivery() }),
  redeliverWebhookDelivery: async () => ({ path: `${await newDelivery()}/redeliver` }),
  getMasterPlaylist: async () => ({ path: `${await stream()}/master.m3u8` }),
  getAudioPlaylist: async () => ({ path: `${await stream()}/audio.m3u8` }),
  getMediaPlaylist: async () => ({ path: `${await stream()}/360p/index.m3u8` }),
  getSegment: async () => ({ path: `${await renditionInTs()}/0.ts` }),
  getCmafSegment: async () => ({ path: `${await renditionInCmaf()}/0.m4s` }),
  getInitialization: async () => ({ path: `${await renditionInCmaf()}/init.mp4` }),
  getCaptionsPlaylist: async () => ({ path: `${await stream()}/captions/en/1/index.m3u8` }),
  getCaptionsSegment: async () => ({ path: `${await stream()}/captions/en/1/0.vtt` }),
  getPlaybackChapters: async () => ({ path: `${await stream()}/chapters.json` }),
  getPlaybackChaptersFile: async () => ({ path: `${await stream()}/chapters.vtt` }),
  getContentKey: async () => ({ path: `${await stream()}/key` }),
  getPoster: () => image('poster.jpg'),
  getStoryboard: async () => ({ path: `${await stream()}/storyboard.vtt` }),
  getStoryboardImage: () => image('storyboard.jpg'),
  getVideoDownload: async () => ({ path: await downloadedFile('480p.mp4') }),
  getAudioDownload: async () => ({ path: await downloadedFile('audio.m4a') }),
  ...Object.fromEntries(
    Object.entries(PICTURES).map(([operation, name]) => [
      operation,
      async () => ({ path: await picture(name) }),
    ]),
  ),
  getEmbedPage: async () => ({ path: await embed() }),
  getEmbedState: async () => ({ path: `${await embed()}/state` }),
  sendBeacon: async () => BEACON,
  getOEmbed: async () => {
    // Reads the poster for its size.
    const { path } = await image('poster.jpg');
    return oEmbedOf(path.replace('/hls/', '/embed/').replace('/poster.jpg', ''));
  },
  getOpenApiDocument: async () => ({ path: '/openapi.json' }),
  getReferencePage: async () => ({ path: '/docs' }),
};

async function success({ operationId }: DocumentedResponse): Promise<Call> {
  const call = await SUCCESSES[operationId]?.();
  if (call === undefined) throw new Error(`No request is known for a success of ${operationId}`);
  return call;
}

const succeed: SendFor = async (documented) => send(documented, await success(documented));

/** For each operation that takes a body, two different valid ones. */
const BODIES: Record<string, readonly [object, object]> = {
  sendBeacon: [{ session: 'a-session-of-a-page' }, { session: 'another-session-of-a-page' }],
  createUploadTicket: [{ filename: 'a.mp4' }, { filename: 'b.mp4' }],
  importVideo: [{ url: 'https://media.example.com/a.mp4' }, { url: 'https://media.example.com/b.mp4' }],
  updateVideo: [{ title: 'A' }, { title: 'B' }],
  updateCaptions: [{ label: 'A' }, { label: 'B' }],
  createPlaybackToken: [{}, { expiresIn: 60 }],
  createDownloads: [{ files: ['360p'] }, { files: ['audio'] }],
  createClip: [
    { start: 0, end: 1 },
    { start: 0, end: 2 },
  ],
  generateCaptions: [{ autoCaptions: true }, { autoCaptions: ['en'] }],
  createApiKey: [{ name: 'A' }, { name: 'B' }],
  createWebhook: [{ url: 'http://127.0.0.1:9/' }, { url: 'http://127.0.0.1:9/b' }],
  updateWebhook: [{ enabled: true }, { enabled: false }],
};

const requestWithUnknownIds = ({ template, takesBody, operationId }: DocumentedResponse): Call => {
  if (operationId === 'setCaptions') return { path: withUnknownIds(template), ...CAPTIONS };
  if (operationId === 'setChapters') return { path: withUnknownIds(template), ...CHAPTERS };
  if (operationId === 'createWatermark') return { path: '/watermarks', ...WATERMARK };
  if (operationId === 'setPoster') return { path: withUnknownIds(template), ...POSTER };
  const body = BODIES[operationId]?.[0];
  if (takesBody && body === undefined) throw new Error(`No body is known for ${operationId}`);
  return { path: withUnknownIds(template), ...(body && { body }) };
};
const without = (header: string, { [header]: _, ...headers }: Credentials) => headers;

/** The URL of a part of a signed stream. */
async function signedPart({ operationId }: DocumentedResponse): Promise<string> {
  if (operationId === 'getVideoDownload') return downloadedFile('480p.mp4', 'signed');
  if (operationId === 'getAudioDownload') return downloadedFile('audio.m4a', 'signed');
  const name = PICTURES[operationId];
  if (name !== undefined) return picture(name, 'signed');
  return `${await stream('signed')}${PARTS[operationId]}`;
}

/** A request for a part of a signed stream, with these credentials and this query. */
const signed =
  (headers: () => Promise<Credentials>, query = '', from = (): { url: string } => plane): SendFor =>
  async (documented) =>
    send(
      documented,
      { path: `${await signedPart(documented)}${query}` },
      { headers: await headers(), url: from().url },
    );

/** By status, for operations that require a key: a request that gets this status. */
const OF_KEYED: Record<number, SendFor> = {
  200: succeed,
  201: succeed,
  202: succeed,
  204: succeed,
  400: (documented) =>
    send(documented, requestWithUnknownIds(documented), {
      headers: without('x-svc-workspace', plane.credentials),
    }),
  401: (documented) => send(documented, requestWithUnknownIds(documented), { headers: {} }),
  403: (documented) =>
    send(documented, requestWithUnknownIds(documented), {
      headers: { ...plane.credentials, 'x-svc-workspace': newId('ws') },
    }),
  404: (documented) => send(documented, requestWithUnknownIds(documented)),
  409: async (documented) => {
    const call = await success(documented);
    const headers = { ...(await newKey()), 'idempotency-key': newId('req') };
    await send(documented, call, { headers });
    const inProgress = { status: null, body: null, leased_until: new Date(Date.now() + 60_000) };
    await plane.db.updateTable('idempotency_keys').set(inProgress).execute();
    return send(documented, call, { headers });
  },
  413: (documented) =>
    send(documented, { ...requestWithUnknownIds(documented), body: { x: 'x'.repeat(300_000) } }),
  415: (documented) =>
    request(plane.url)
      [documented.method](`/v1${requestWithUnknownIds(documented).path}`)
      .set(plane.credentials)
      .responseType('blob')
      .type('form')
      .send('a=b'),
  422: async (documented) => {
    const call = await success(documented);
    const headers = { ...plane.credentials, 'idempotency-key': newId('req') };
    await send(documented, call, { headers });
    return send(documented, { ...call, body: BODIES[documented.operationId]?.[1] ?? {} }, { headers });
  },
  429: async (documented) => {
    const options = { headers: await newKey(), url: limited.url };
    await send(documented, requestWithUnknownIds(documented), options);
    return send(documented, requestWithUnknownIds(documented), options);
  },
  500: (documented) => send(documented, requestWithUnknownIds(documented), { url: broken.url }),
  503: (documented) => send(documented, requestWithUnknownIds(documented), { url: unconnected.url }),
};

/** Headers are added to the credentials. */
const sendWith = (documented: DocumentedResponse, call: Call, headers: Credentials) =>
  send(documented, call, { headers: { ...plane.credentials, ...headers } });

const ifUnchanged: SendFor = async (documented) => {
  const call = await success(documented);
  const { headers } = await send(documented, call);
  return sendWith(documented, call, { 'if-none-match': String(headers.etag) });
};

/** Media that players get without authentication. */
const OF_MEDIA: Record<number, SendFor> = {
  200: succeed,
  404: (documented) => send(documented, requestWithUnknownIds(documented)),
  500: (documented) => send(documented, requestWithUnknownIds(documented), { url: broken.url }),
  503: (documented) => send(documented, requestWithUnknownIds(documented), { url: unconnected.url }),
};

const OF_STORED_FILES: Record<number, SendFor> = {
  206: async (documented) => sendWith(documented, await success(documented), { range: 'bytes=0-9' }),
  302: async (documented) => send(documented, await success(documented), { url: redirecting.url }),
  304: ifUnchanged,
  416: async (documented) => sendWith(documented, await success(documented), { range: 'bytes=1000000-' }),
};

const OF_STREAMS: Record<number, SendFor> = {
  200: succeed,
  304: ifUnchanged,
  400: signed(async () => without('x-svc-workspace', plane.credentials)),
  401: signed(async () => ({})),
  403: signed(async () => ({}), '?token=wrong'),
  404: (documented) => send(documented, requestWithUnknownIds(documented)),
  429: async (documented) => {
    const headers = await newKey();
    await signed(
      async () => headers,
      '',
      () => limited,
    )(documented);
    return signed(
      async () => headers,
      '',
      () => limited,
    )(documented);
  },
  500: (documented) => send(documented, requestWithUnknownIds(documented), { url: broken.url }),
  503: (documented) => send(documented, requestWithUnknownIds(documented), { url: unconnected.url }),
};

const OF_STATIC: Record<number, SendFor> = {
  200: succeed,
  405: (documented) => send({ method: 'put' }, requestWithUnknownIds(documented)),
  500: (documented) => {
    jest.spyOn(express.response, 'send').mockImplementationOnce(() => {
      throw new Error('It cannot be written');
    });
    return send(documented, requestWithUnknownIds(documented));
  },
};

/** Statuses of the player page, or of what is below its path. */
const ofEmbed = (part: string): Record<number, SendFor> => ({
  401: async (documented) => send(documented, { path: `${await embed('signed')}${part}` }, { headers: {} }),
  403: async (documented) =>
    send(documented, { path: `${await embed('signed')}${part}?token=wrong` }, { headers: {} }),
  404: (documented) => send(documented, requestWithUnknownIds(documented)),
  500: (documented) => send(documented, requestWithUnknownIds(documented), { url: broken.url }),
  503: (documented) => send(documented, requestWithUnknownIds(documented), { url: unconnected.url }),
});

const oEmbedOf = (path: string, more = ''): Call => ({
  path: `/oembed?url=${encodeURIComponent(`http://framelane.test/v1${path}`)}${more}`,
});

/** A beacon for an unknown video. */
const BEACON: Call = { path: '/embed/ws_a/vid_a/beacons', body: { session: 'a-session-of-a-page' } };

/** A sign-in with an unknown code. */
const SIGN_IN: Call = {
  path: '/console/sessions',
  body: { code: 'unknown' },
  headers: { origin: CONSOLE_ORIGIN },
};

/** Statuses of an operation that requires a console session. The session is that of an administrator. */
const ofOwnSession = (success: number, path = '/console/session'): Record<number, SendFor> => {
  const withSession = async (documented: DocumentedResponse, url = plane.url, headers: Credentials = {}) => {
    const session = await signIn(plane, { administrator: true });
    return send(documented, { path }, { headers: { ...session.headers, ...headers }, url });
  };
  return {
    [success]: (documented) => withSession(documented),
    401: (documented) => send(documented, { path }),
    403: (documented) => withSession(documented, plane.url, { origin: 'https://evil.example' }),
    429: async (documented) => {
      const { headers } = await signIn(plane);
      await send({ method: 'get' }, { path }, { headers, url: limited.url });
      return send(documented, { path }, { headers, url: limited.url });
    },
    500: (documented) => withSession(documented, broken.url),
    503: (documented) => withSession(documented, unconnected.url),
  };
};

/** Statuses that need a special request for one operation. */
const OF_OPERATION: Record<string, Record<number, SendFor>> = {
  getEmbedPage: ofEmbed(''),
  getEmbedState: ofEmbed('/state'),
  getOEmbed: {
    400: (documented) => send(documented, { path: '/oembed' }),
    401: async (documented) => send(documented, oEmbedOf(await embed('signed'))),
    404: (documented) => send(documented, { path: '/oembed?url=https://example.com/' }),
    500: (documented) => send(documented, oEmbedOf('/embed/ws_a/vid_a'), { url: broken.url }),
    501: (documented) => send(documented, oEmbedOf('/embed/ws_a/vid_a', '&format=xml')),
    503: (documented) => send(documented, oEmbedOf('/embed/ws_a/vid_a'), { url: unconnected.url }),
  },
  sendBeacon: {
    202: succeed,
    400: (documented) => send(documented, { ...BEACON, body: {} }),
    413: (documented) => send(documented, { ...BEACON, body: { session: 'x'.repeat(5000) } }),
    415: (documented) => send(documented, { ...BEACON, body: 'session=abc', type: 'form' }),
    429: async (documented) => {
      await send(documented, BEACON, { url: limited.url });
      return send(documented, BEACON, { url: limited.url });
    },
    500: (documented) => send(documented, BEACON, { url: broken.url }),
    503: (documented) => send(documented, BEACON, { url: unconnected.url }),
  },
  createConsoleSession: {
    201: succeed,
    400: (documented) => send(documented, { ...SIGN_IN, body: {} }),
    401: (documented) => send(documented, SIGN_IN),
    403: (documented) => send(documented, SIGN_IN, { headers: { origin: 'https://evil.example' } }),
    413: (documented) => send(documented, { ...SIGN_IN, body: { code: 'x'.repeat(300_000) } }),
    415: (documented) => send(documented, { ...SIGN_IN, body: 'code=abc', type: 'form' }),
    429: async (documented) => {
      const { url } = await plane.startAnother({
        rateLimits: { requestsPerMinute: 0, failuresPerMinute: 1 },
      });
      await send(documented, SIGN_IN, { url });
      return send(documented, { ...SIGN_IN, body: { code: 'another' } }, { url });
    },
    500: (documented) => send(documented, SIGN_IN, { url: broken.url }),
    503: (documented) => send(documented, SIGN_IN, { url: unconnected.url }),
  },
  getConsoleSession: ofOwnSession(200),
  deleteConsoleSession: ofOwnSession(204),
  getSystem: ofOwnSession(200, '/console/system'),
  getOpenApiDocument: { 304: ifUnchanged },
  getReferencePage: { 304: ifUnchanged },
  listVideos: { 304: ifUnchanged },
  getVideo: { 304: ifUnchanged },
  getWatermarkImage: { 304: ifUnchanged },
  getVideoSource: OF_STORED_FILES,
  deleteVideoSource: {
    409: async (documented) => send(documented, { path: `${await newVideo()}/source` }),
  },
  setCaptions: {
    200: async (documented) => send(documented, { path: await captions(), ...CAPTIONS }),
    409: async (documented) => {
      const path = await captions('de');
      await sql`with added as (
        insert into captions select video_id, 'q' || chr(97 + n / 26) || chr(97 + n % 26), label, false, origin,
          1, cue_count, cue_starts, cue_ends, cues from captions, generate_series(1, 49) n
          where video_id = ${path.split('/')[2]}
          returning video_id, language
        ) insert into artifacts (video_id, kind, name, bytes)
        select video_id, 'captions', language, 1 from added`.execute(plane.db);
      return send(documented, { path, ...CAPTIONS });
    },
    413: async (documented) =>
      send(documented, { ...requestWithUnknownIds(documented), body: 'x'.repeat(2_200_000) }),
  },
  getVideoDownload: OF_STORED_FILES,
  getAudioDownload: OF_STORED_FILES,
  ...Object.fromEntries(Object.keys(PICTURES).map((operation) => [operation, OF_STORED_FILES])),
  setChapters: {
    413: async (documented) =>
      send(documented, { ...requestWithUnknownIds(documented), body: 'x'.repeat(300_000), type: 'text/vtt' }),
  },
  createWatermark: {
    413: (documented) =>
      send(documented, { ...requestWithUnknownIds(documented), body: Buffer.alloc(1_100_000) }),
    422: async (documented) => {
      const headers = { ...plane.credentials, 'idempotency-key': newId('req') };
      await send(documented, await success(documented), { headers });
      return send(documented, { ...(await success(documented)), body: pngOf(32, 32) }, { headers });
    },
  },
  setPoster: {
    413: async (documented) =>
      send(documented, { ...requestWithUnknownIds(documented), body: jpegOf(640, 360, 2_200_000) }),
  },
  revokeApiKey: {
    409: async (documented) => {
      const headers = await newWorkspace();
      const { body } = await request(plane.url).get('/v1/auth/whoami').set(headers);
      return send(documented, { path: `/api-keys/${body.apiKey.id}` }, { headers });
    },
  },
  getSegment: { ...OF_MEDIA, ...OF_STORED_FILES },
  getCmafSegment: { ...OF_MEDIA, ...OF_STORED_FILES },
  getInitialization: { ...OF_MEDIA, 304: ifUnchanged },
};

const OF_KIND = { required: OF_KEYED, possible: OF_STREAMS, none: OF_STATIC };

const check = new ResponseCheck(readOpenApiDocument());

/** API keys, secrets of webhooks, upload tokens and playback tokens, as responses contain them. */
const SECRETS = /(?<=")(svc_(live|test)_\w{43}|whsec_[\w+/=]{20,}|ut_[\w-]{20,}|eyJ[\w.-]{20,})(?=")/g;

/** Those that were sent or returned. */
const secrets = new Set<string>();

describe.each([...Map.groupBy(documentedResponses(), ({ operationId }) => operationId)])(
  '%s',
  (_, documentedResponses) => {
    test.each(documentedResponses)('$status', async (documented) => {
      const { operationId, method, template, status, codes, apiKey } = documented;
      const sendFor = OF_OPERATION[operationId]?.[status] ?? OF_KIND[apiKey][status];
      if (sendFor === undefined)
        throw new Error(`No request is known for ${operationId} with status ${status}`);
      const response = await sendFor(documented);
      const body = Buffer.from(response.body);
      for (const [secret] of body.toString().matchAll(SECRETS)) secrets.add(secret);
      expect([response.status, status < 400 ? '' : body.toString()]).toEqual([status, expect.any(String)]);
      expect(check.violations(template, method, { status, headers: response.headers, body })).toEqual([]);
      if (codes.length > 0) expect(codes).toContain(JSON.parse(body.toString()).code);
    });
  },
);

/** The operations that clients with a key or a session can use. */
const KEYED = documentedResponses().filter(({ apiKey, status }) => apiKey === 'required' && status < 400);

/** Operations that write nothing which is somebody's choice. */
const WITHOUT_AUDIT = ['createPlaybackToken', 'testWebhook', 'redeliverWebhookDelivery'];

test('the audit log has the changes of all operations above', async () => {
  const rows = await plane.db
    .selectFrom('audit_events')
    .select('operation')
    .where('action', 'in', ['created', 'updated', 'deleted'])
    .distinct()
    .execute();
  const changing = new Set(
    KEYED.flatMap(({ method, operationId }) => (method === 'get' ? [] : [operationId])),
  );
  for (const operation of WITHOUT_AUDIT) changing.delete(operation);
  expect(rows.map(({ operation }) => operation).sort()).toEqual([...changing].sort());
});

test('the request log has all operations above, and no secret that they got or returned', async () => {
  const expected = new Set(KEYED.map(({ method, template }) => `${method.toUpperCase()} /v1${template}`));
  const stored = await until(
    async () => {
      const rows = await plane.db.selectFrom('request_log').selectAll().execute();
      const found = new Set(rows.map(({ method, route }) => `${method} ${route}`));
      return [...expected].every((operation) => found.has(operation)) && rows;
    },
    { seconds: 10 },
  );
  expect(secrets.size).toBeGreaterThan(5);
  const text = JSON.stringify(stored);
  expect([...secrets].filter((secret) => text.includes(secret))).toEqual([]);
});
