import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { describe, expect, test } from '@jest/globals';
import { createClient, type FramelaneClient } from '../src/index.ts';

/** Operations without a method: players, the console and browsers request them, and `upload` sends the file. */
const NOT_FOR_PROGRAMS = [
  'uploadFile',
  'createResumableUpload',
  'getResumableUpload',
  'sendUploadPart',
  'terminateResumableUpload',
  'getEmbedPage',
  'getEmbedState',
  'sendBeacon',
  'getMasterPlaylist',
  'getAudioPlaylist',
  'getMediaPlaylist',
  'getSegment',
  'getCmafSegment',
  'getInitialization',
  'getCaptionsPlaylist',
  'getCaptionsSegment',
  'getPlaybackChapters',
  'getPlaybackChaptersFile',
  'getContentKey',
  'getPoster',
  'getStoryboard',
  'getStoryboardImage',
  'getVideoDownload',
  'getAudioDownload',
  'getThumbnailJpeg',
  'getThumbnailWebp',
  'getPreviewWebp',
  'getPreviewGif',
  'getOEmbed',
  'createConsoleSession',
  'getConsoleSession',
  'deleteConsoleSession',
  'listConsoleSessions',
  'revokeConsoleSession',
  'revokeConsoleSessions',
  'getSystem',
  'getOpenApiDocument',
  'getReferencePage',
];

/** A call of every method, by the operation that it sends. */
const CALLS: Record<string, (client: FramelaneClient) => Promise<unknown>> = {
  createUploadTicket: ({ uploadTickets }) => uploadTickets.create({ filename: 'a.mp4' }),
  listVideos: ({ videos }) => videos.list().next(),
  getVideo: ({ videos }) => videos.get('vid_1'),
  getVideoTimeline: ({ videos }) => videos.timeline('vid_1'),
  updateVideo: ({ videos }) => videos.update('vid_1', { title: 'A' }),
  deleteVideo: ({ videos }) => videos.delete('vid_1'),
  importVideo: ({ videos }) => videos.import({ url: 'https://media.example.com/a.mp4' }),
  retryVideo: ({ videos }) => videos.retry('vid_1'),
  getVideoSource: ({ videos }) => videos.getSource('vid_1'),
  deleteVideoSource: ({ videos }) => videos.deleteSource('vid_1'),
  createPlaybackToken: ({ videos }) => videos.createPlaybackToken('vid_1'),
  setPoster: ({ videos }) => videos.setPoster('vid_1', new Uint8Array([0xff])),
  deletePoster: ({ videos }) => videos.deletePoster('vid_1'),
  listTags: ({ videos }) => videos.listTags(),
  createClip: ({ clips }) => clips.create('vid_1', { start: 1, end: 2 }),
  createDownloads: ({ downloads }) => downloads.create('vid_1', ['highest']),
  listDownloads: ({ downloads }) => downloads.list('vid_1'),
  deleteDownload: ({ downloads }) => downloads.delete('vid_1', 'highest'),
  createWatermark: ({ watermarks }) => watermarks.create(new Uint8Array([0x89]), { type: 'image/png' }),
  listWatermarks: ({ watermarks }) => watermarks.list(),
  getWatermark: ({ watermarks }) => watermarks.get('wmk_1'),
  getWatermarkImage: ({ watermarks }) => watermarks.getImage('wmk_1'),
  deleteWatermark: ({ watermarks }) => watermarks.delete('wmk_1'),
  setCaptions: ({ captions }) => captions.set('vid_1', 'lng_1', 'WEBVTT'),
  generateCaptions: ({ captions }) => captions.generate('vid_1', ['en']),
  updateCaptions: ({ captions }) => captions.update('vid_1', 'lng_1', { default: true }),
  listCaptions: ({ captions }) => captions.list('vid_1'),
  getCaptions: ({ captions }) => captions.get('vid_1', 'lng_1'),
  setChapters: ({ chapters }) => chapters.set('vid_1', [{ start: 0, title: 'A' }]),
  getChapters: ({ chapters }) => chapters.get('vid_1'),
  getChaptersFile: ({ chapters }) => chapters.getWebVtt('vid_1'),
  deleteChapters: ({ chapters }) => chapters.delete('vid_1'),
  deleteCaptions: ({ captions }) => captions.delete('vid_1', 'lng_1'),
  listEvents: ({ events }) => events.list({ from: 'now' }),
  createWebhook: ({ webhooks }) => webhooks.create({ url: 'https://example.com/' }),
  listWebhooks: ({ webhooks }) => webhooks.list().next(),
  getWebhook: ({ webhooks }) => webhooks.get('whk_1'),
  updateWebhook: ({ webhooks }) => webhooks.update('whk_1', { enabled: false }),
  deleteWebhook: ({ webhooks }) => webhooks.delete('whk_1'),
  rotateWebhookSecret: ({ webhooks }) => webhooks.rotateSecret('whk_1'),
  testWebhook: ({ webhooks }) => webhooks.test('whk_1'),
  listWebhookDeliveries: ({ webhooks }) => webhooks.listDeliveries('whk_1').next(),
  getWebhookDelivery: ({ webhooks }) => webhooks.getDelivery('whk_1', 'dlv_1'),
  redeliverWebhookDelivery: ({ webhooks }) => webhooks.redeliver('whk_1', 'dlv_1'),
  createApiKey: ({ apiKeys }) => apiKeys.create({ name: 'A' }),
  listApiKeys: ({ apiKeys }) => apiKeys.list().next(),
  revokeApiKey: ({ apiKeys }) => apiKeys.revoke('key_1'),
  getWhoami: ({ account }) => account.whoami(),
  getUsage: ({ account }) => account.usage(),
  getAnalytics: ({ analytics }) => analytics.get(),
  getVideoAnalytics: ({ analytics }) => analytics.getVideo('vid_1'),
  listRequests: ({ requests }) => requests.list().next(),
  getRequest: ({ requests }) => requests.get('log_1'),
  listRequestErrors: ({ requests }) => requests.listErrors(),
  listAuditEvents: ({ auditEvents }) => auditEvents.list().next(),
  exportAuditEvents: ({ auditEvents }) => auditEvents.exportCsv(),
};

const { paths } = readOpenApiDocument() as {
  paths: Record<string, Record<string, { operationId?: string }>>;
};
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { operationId }]) =>
    operationId === undefined ? [] : [{ operationId, method: method.toUpperCase(), path }],
  ),
);

const requests: Request[] = [];
const client = createClient({
  baseUrl: 'http://localhost/v1',
  apiKey: 'svc_test_key',
  workspaceId: 'ws_1',
  fetch: async (request) => {
    requests.push(request);
    return Response.json({ data: [{}], nextCursor: null });
  },
});

describe('the resources of the client', () => {
  test('have a method for every operation of the contract that programs use', () => {
    const covered = [...Object.keys(CALLS), ...NOT_FOR_PROGRAMS].sort();
    expect(covered).toEqual(operations.map(({ operationId }) => operationId).sort());
  });

  test('have no other methods, except to wait for a video', () => {
    const {
      uploadTickets,
      videos,
      clips,
      downloads,
      watermarks,
      captions,
      chapters,
      events,
      webhooks,
      apiKeys,
      account,
      analytics,
      requests,
      auditEvents,
    } = client;
    const methods = [
      uploadTickets,
      videos,
      clips,
      downloads,
      watermarks,
      captions,
      chapters,
      events,
      webhooks,
      apiKeys,
      account,
      analytics,
      requests,
      auditEvents,
    ].flatMap((each) => Object.keys(each));
    expect(methods).toHaveLength(Object.keys(CALLS).length + 1);
  });

  test.each([
    ['WEBVTT\n', {}, 'text/vtt', ''],
    ['\ufeffWEBVTT\n', { label: 'A' }, 'text/vtt', '?label=A'],
    ['1\n', { default: true }, 'application/x-subrip', '?default=true'],
    ['1\n', { format: 'webvtt' as const }, 'text/vtt', ''],
  ])('send captions %j with %j as %s', async (file, options, type, search) => {
    requests.length = 0;
    await client.captions.set('vid_1', 'en', file, options);
    const [request] = requests;
    expect(request?.headers.get('content-type')).toBe(type);
    expect(new URL(request?.url ?? '').search).toBe(search);
    expect(Buffer.from(await (request as Request).arrayBuffer()).toString()).toBe(file);
  });

  test.each(Object.entries(CALLS))('send the request of %s', async (operationId, call) => {
    requests.length = 0;
    await call(client);
    const operation = operations.find((each) => each.operationId === operationId);
    const [request] = requests;
    expect(request?.method).toBe(operation?.method);
    const template = `^/v1${operation?.path.replace(/\{\w+\}/g, '([a-z]{3}_1|highest)')}$`;
    expect(new URL(request?.url ?? '').pathname).toMatch(new RegExp(template));
  });
});
