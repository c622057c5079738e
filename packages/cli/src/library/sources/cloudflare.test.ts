import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { cloudflareSource } from './cloudflare.ts';

const UID = 'ea95132c15732412d22c1476fa83f27a';
const stream = '/accounts/023e105f4ecef8ad9ca31a8372d0c353/stream';

/** As in https://developers.cloudflare.com/api/resources/stream/methods/list/. */
const VIDEO = {
  uid: UID,
  created: '2014-01-02T02:20:00.512033Z',
  creator: 'creator-id_abcde12345',
  duration: 300.5,
  meta: { name: 'video12345.mp4', season: '2', count: 7 },
  readyToStream: true,
  requireSignedURLs: false,
  size: 4190963,
  status: { state: 'ready', pctComplete: '100' },
};
/** As in https://developers.cloudflare.com/stream/viewing-videos/download-videos. */
const URL_OF_MP4 = `https://customer-m033z5x00ks6nunl.cloudflarestream.com/${UID}/downloads/default.mp4`;
const envelope = (result: unknown) => ({ body: { success: true, errors: [], messages: [], result } });

async function open(routes: Record<string, ServiceRoute>) {
  const service = await FakeService.start(routes);
  const source = cloudflareSource(
    { env: { CLOUDFLARE_API_TOKEN: 'cf-token' }, signal: AbortSignal.timeout(60_000) },
    { account: '023e105f4ecef8ad9ca31a8372d0c353', baseUrl: service.url, pause: async () => {} },
  );
  return { service, source };
}

async function onlyItem(routes: Record<string, ServiceRoute>, fields: object = {}) {
  const { service, source } = await open({
    [`GET ${stream}`]: envelope([{ ...VIDEO, ...fields }]),
    ...routes,
  });
  const [item] = await Array.fromAsync(source.items());
  return { service, item: item as LibraryItem };
}

test('lists more than a page by time, although videos of the same second are listed twice', async () => {
  const all = Array.from({ length: 1500 }, (_, index) => ({
    ...VIDEO,
    uid: `video-${index}`,
    // Three videos have the same time, also at the end of the page.
    created: new Date(Date.UTC(2024, 0, 1) + Math.floor((index + 1) / 3) * 500).toISOString(),
  }));
  const { service, source } = await open({
    [`GET ${stream}`]: ({ query }) => {
      const start = query.get('start') ?? '';
      return envelope(all.filter(({ created }) => created > start).slice(0, 1000));
    },
  });
  await using _ = service;
  const items = await Array.fromAsync(source.items());
  expect(items.map(({ id }) => id)).toEqual(all.map(({ uid }) => `cloudflare:${uid}`));
  expect(service.requests).toHaveLength(2);
  expect(service.requests[0]?.headers.authorization).toBe('Bearer cf-token');
});

test('a video has its name, its creator, texts of meta and its date', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  expect(item).toMatchObject({
    id: `cloudflare:${UID}`,
    title: 'video12345.mp4',
    metadata: { cloudflareCreator: 'creator-id_abcde12345', season: '2' },
    createdAt: VIDEO.created,
  });
  expect(item.metadata).not.toHaveProperty('count');
});

test('the download is created and waited for', async () => {
  const states = [
    { status: 'inprogress', url: URL_OF_MP4, percentComplete: 75.0 },
    { status: 'ready', url: URL_OF_MP4, percentComplete: 100.0 },
  ];
  const { service, item } = await onlyItem({
    [`POST ${stream}/${UID}/downloads`]: envelope({ default: states[0] }),
    [`GET ${stream}/${UID}/downloads`]: () => envelope({ default: states.shift() }),
  });
  await using _ = service;
  expect(await item.media()).toEqual({ url: URL_OF_MP4 });
});

test('a signed video is fetched with a token in place of its id', async () => {
  const { service, item } = await onlyItem(
    {
      [`POST ${stream}/${UID}/downloads`]: envelope({ status: 'ready', url: URL_OF_MP4 }),
      [`GET ${stream}/${UID}/downloads`]: envelope({ status: 'ready', url: URL_OF_MP4 }),
      [`POST ${stream}/${UID}/token`]: envelope({ token: 'eyJhbGciOi' }),
    },
    { requireSignedURLs: true },
  );
  await using _ = service;
  expect(item.fields).toEqual({ playbackPolicy: 'signed' });
  expect(await item.media()).toEqual({ url: URL_OF_MP4.replace(UID, 'eyJhbGciOi') });
  expect(service.requests.at(-1)?.body).toBe('{"downloadable":true}');
});

test('a download that Cloudflare cannot make', async () => {
  const { service, item } = await onlyItem({
    [`POST ${stream}/${UID}/downloads`]: envelope({}),
    [`GET ${stream}/${UID}/downloads`]: envelope({ default: { status: 'error' } }),
  });
  await using _ = service;
  await expect(item.media()).rejects.toThrow('Cloudflare could not make the download.');
});

test('captions that are ready', async () => {
  const { service, item } = await onlyItem({
    [`GET ${stream}/${UID}/captions`]: envelope([
      { generated: false, label: 'Türkçe', language: 'tr', status: 'ready' },
      { generated: true, label: 'English', language: 'en', status: 'inprogress' },
    ]),
    [`GET ${stream}/${UID}/captions/tr/vtt`]: { body: 'WEBVTT' },
  });
  await using _ = service;
  expect((await item.details()).captions).toEqual([{ language: 'tr', label: 'Türkçe', text: 'WEBVTT' }]);
});

test('a video that is not ready', async () => {
  const { service, item } = await onlyItem(
    {},
    { readyToStream: false, status: { state: 'error', errorReasonText: 'The file was not recognized' } },
  );
  await using _ = service;
  expect(item.unsupported).toBe('Its status at Cloudflare is "error": The file was not recognized.');
});
