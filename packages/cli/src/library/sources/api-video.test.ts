import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { apiVideoSource } from './api-video.ts';

/** As in https://docs.api.video/reference/api/Videos, "List all video objects". */
const VIDEO = {
  videoId: 'vi4blUQJFrYWbaG44NChkH27',
  title: 'My Video.mp4',
  description: 'Tomorrow and tomorrow',
  public: true,
  createdAt: '2020-03-09T10:03:32+00:00',
  publishedAt: '2020-03-09T10:03:32+00:00',
  tags: ['captions', 'dialogue'],
  metadata: [{ key: 'Author', value: 'John Doe' }],
  mp4Support: true,
  assets: { mp4: 'https://vod.api.video/vod/vi4blUQJFrYWbaG44NChkH27/mp4/source.mp4' },
};
const page = (data: object[], currentPage = 1, pagesTotal = 1) => ({
  body: { data, pagination: { currentPage, pagesTotal, pageSize: 100, itemsTotal: 1, links: [] } },
});
const path = `/videos/${VIDEO.videoId}`;

async function open(routes: Record<string, ServiceRoute>) {
  const service = await FakeService.start(routes);
  const source = apiVideoSource(
    { env: { API_VIDEO_API_KEY: 'av-key' }, signal: AbortSignal.timeout(60_000) },
    { baseUrl: service.url, pause: async () => {} },
  );
  return { service, source };
}

async function onlyItem(routes: Record<string, ServiceRoute>, fields: object = {}) {
  const { service, source } = await open({ 'GET /videos': page([{ ...VIDEO, ...fields }]), ...routes });
  const [item] = await Array.fromAsync(source.items());
  return { service, item: item as LibraryItem };
}

test('a video has its title without the extension, tags, metadata and its date', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  expect(item).toMatchObject({
    id: `api-video:${VIDEO.videoId}`,
    title: 'My Video',
    tags: ['captions', 'dialogue'],
    metadata: { description: 'Tomorrow and tomorrow', Author: 'John Doe' },
    createdAt: '2020-03-09T10:03:32+00:00',
    unsupported: undefined,
  });
  expect(service.requests[0]?.headers.authorization).toBe(`Basic ${btoa('av-key:')}`);
});

test.each(['What is new in 1.5', 'With Mr.Smith', '.mp4'])(
  'the title %s is no name of a file',
  async (title) => {
    const { service, item } = await onlyItem({}, { title });
    await using _ = service;
    expect(item.title).toBe(title);
  },
);

test('a private video becomes signed', async () => {
  const { service, item } = await onlyItem({}, { public: false });
  await using _ = service;
  expect(item.fields).toEqual({ playbackPolicy: 'signed' });
});

test('lists all pages', async () => {
  const { service, source } = await open({
    'GET /videos': ({ query }) => {
      const current = Number(query.get('currentPage'));
      return page([{ ...VIDEO, videoId: `vi${current}` }], current, 3);
    },
  });
  await using _ = service;
  expect(await Array.fromAsync(source.items())).toHaveLength(3);
});

test('the URL of the MP4 is asked for again, because that of a private video works once', async () => {
  const mp4 = 'https://vod.api.video/vod/vi4blUQJFrYWbaG44NChkH27/token/second/mp4/source.mp4';
  const { service, item } = await onlyItem({ [`GET ${path}`]: { body: { ...VIDEO, assets: { mp4 } } } });
  await using _ = service;
  expect(await item.media()).toEqual({ url: mp4 });
});

test('captions and chapters', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  const captions = { src: `${service.url}/en.vtt`, srclang: 'en', languageName: 'English', default: true };
  service.on(`GET ${path}/captions`, page([captions]));
  service.on(`GET ${path}/chapters`, page([{ src: `${service.url}/chapters.vtt`, language: 'en' }]));
  service.on('GET /en.vtt', { body: 'WEBVTT 1' });
  service.on('GET /chapters.vtt', { body: 'WEBVTT 2' });
  expect(await item.details()).toEqual({
    captions: [{ language: 'en', label: 'English', default: true, text: 'WEBVTT 1' }],
    chapters: 'WEBVTT 2',
    warnings: [],
  });
});

test.each([
  [{ mp4Support: false }, /Set its mp4Support to true/],
  [{ discarded: true }, /Restore it there first/],
])('%j cannot be imported', async (fields, reason) => {
  const { service, item } = await onlyItem({}, fields);
  await using _ = service;
  expect(item.unsupported).toMatch(reason);
});
