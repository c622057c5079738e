import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { bunnySource } from './bunny.ts';

const GUID = 'e7e9b99a-ea2a-434a-b200-f6615e7b6abd';
const COLLECTION = '97f20caa-649b-4302-9f6e-1d286e0da144';
const library = '/library/1234';

/** As in https://docs.bunny.net/api-reference/stream/manage-videos/get-video. */
const VIDEO = {
  videoLibraryId: 1234,
  guid: GUID,
  title: 'Bunny Hoppers',
  dateUploaded: '2023-11-07T05:31:56.123',
  status: 4,
  hasMP4Fallback: true,
  hasOriginal: true,
  description: 'A film',
  collectionId: COLLECTION,
  category: 'animation',
  captions: [{ srclang: 'en', label: 'English', version: 1 }],
  chapters: [{ title: 'Chapter 1', start: 0, end: 300 }],
  metaTags: [{ property: 'season', value: '2' }],
};
const page = (items: object[], totalItems = items.length) => ({
  body: { totalItems, currentPage: 1, itemsPerPage: 100, items },
});
const collections = page([{ guid: COLLECTION, name: 'Hopping', videoCount: 1 }]);

async function open(routes: Record<string, ServiceRoute>) {
  const service = await FakeService.start({ [`GET ${library}/collections`]: collections, ...routes });
  const source = bunnySource(
    { env: { BUNNY_API_KEY: 'bunny-key' }, signal: AbortSignal.timeout(60_000) },
    { library: '1234', baseUrl: service.url, pause: async () => {} },
  );
  return { service, source };
}

async function onlyItem(play: object, fields: object = {}) {
  const { service, source } = await open({
    [`GET ${library}/videos`]: page([{ ...VIDEO, ...fields }]),
    // As in https://docs.bunny.net/api-reference/stream/manage-videos/get-video-play-data.
    [`GET ${library}/videos/${GUID}/play`]: { body: { video: VIDEO, ...play } },
  });
  const [item] = await Array.fromAsync(source.items());
  return { service, item: item as LibraryItem };
}

const ORIGINAL = `https://vz-1.b-cdn.net/${GUID}/original`;
const FALLBACK = `https://vz-1.b-cdn.net/${GUID}/play_720p.mp4`;

test('a video has its collection as a tag, its description, its tags and its date in UTC', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  expect(item).toMatchObject({
    id: `bunny:1234/${GUID}`,
    title: 'Bunny Hoppers',
    tags: ['Hopping'],
    metadata: { description: 'A film', bunnyCategory: 'animation', season: '2' },
    createdAt: '2023-11-07T05:31:56.123Z',
    unsupported: undefined,
  });
  expect(service.requests[0]?.headers.accesskey).toBe('bunny-key');
});

test('lists all pages', async () => {
  const { service, source } = await open({
    [`GET ${library}/videos`]: ({ query }) => {
      const guid = `video-${query.get('page')}`;
      return page([{ ...VIDEO, guid }], 201);
    },
  });
  await using _ = service;
  expect(await Array.fromAsync(source.items())).toHaveLength(3);
});

test.each([
  ['the original', {}, ORIGINAL],
  ['the MP4 without an original', { hasOriginal: false }, FALLBACK],
])('the file is %s', async (_, fields, url) => {
  const { service, item } = await onlyItem({ originalUrl: ORIGINAL, fallbackUrl: FALLBACK }, fields);
  await using __ = service;
  expect(await item.media()).toEqual({ url });
});

test('captions and chapters', async () => {
  const { service, item } = await onlyItem({ captionsPath: 'unset' });
  await using _ = service;
  service.on(`GET ${library}/videos/${GUID}/play`, { body: { captionsPath: `${service.url}/captions/` } });
  service.on('GET /captions/en.vtt', { body: 'WEBVTT' });
  expect(await item.details()).toEqual({
    captions: [{ language: 'en', label: 'English', text: 'WEBVTT' }],
    chapters: [{ start: 0, title: 'Chapter 1' }],
    warnings: [],
  });
});

test('captions that cannot be fetched are a warning', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  service.on(`GET ${library}/videos/${GUID}/play`, { body: { captionsPath: `${service.url}/captions` } });
  expect(await item.details()).toMatchObject({
    captions: [],
    warnings: [expect.stringContaining('The captions en could not be read')],
  });
});

test.each([
  [{ status: 5 }, /is not finished/],
  [{ hasOriginal: false, hasMP4Fallback: false }, /keeps neither its original nor an MP4/],
])('%j cannot be imported', async (fields, reason) => {
  const { service, item } = await onlyItem({}, fields);
  await using _ = service;
  expect(item.unsupported).toMatch(reason);
});
