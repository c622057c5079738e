import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { peertubeSource } from './peertube.ts';

const UUID = '9c9de5e8-0a1e-484a-b099-e80766180a6d';
const path = `/api/v1/videos/${UUID}`;

/** As in https://docs.joinpeertube.org/api-rest-reference.html, "List videos of an account" and "Get a video". */
const VIDEO = {
  uuid: UUID,
  name: 'What is PeerTube?',
  isLive: false,
  privacy: { id: 1, label: 'Public' },
  licence: { id: 2, label: 'Attribution - Share Alike' },
  category: { id: 15, label: 'Science & Technology' },
  language: { id: 'en', label: 'English' },
  createdAt: '2018-10-01T10:52:46.396Z',
  publishedAt: '2018-10-01T10:52:46.396Z',
  originallyPublishedAt: null,
  truncatedDescription: 'A short',
};
const fileOf = (id: number, height: number, fields: object = {}) => ({
  id,
  resolution: { id: height, label: `${height}p` },
  size: height * 1000,
  fileUrl: `https://peertube.example.com/static/web-videos/${id}.mp4`,
  fileDownloadUrl: `https://peertube.example.com/download/web-videos/${id}.mp4`,
  hasAudio: true,
  hasVideo: true,
  ...fields,
});
const WHOLE = {
  ...VIDEO,
  description: 'A longer description',
  tags: ['framasoft', 'peertube'],
  files: [fileOf(1, 360), fileOf(2, 1080)],
  streamingPlaylists: [{ files: [fileOf(3, 720)] }],
};
const list = (...data: object[]) => ({ body: { total: data.length, data } });

async function open(
  routes: Record<string, ServiceRoute>,
  options: { account?: string; token?: string } = { account: 'framasoft' },
) {
  const service = await FakeService.start({ [`GET ${path}`]: { body: WHOLE }, ...routes });
  const source = peertubeSource(
    {
      env: options.token === undefined ? {} : { PEERTUBE_TOKEN: options.token },
      signal: AbortSignal.timeout(60_000),
    },
    { url: `${service.url}/a/page`, account: options.account, pause: async () => {} },
  );
  return { service, source };
}

async function publicItem(routes: Record<string, ServiceRoute> = {}, fields: object = {}) {
  const { service, source } = await open({
    'GET /api/v1/accounts/framasoft/videos': list({ ...VIDEO, ...fields }),
    ...routes,
  });
  const [item] = await Array.fromAsync(source.items());
  return { service, item: item as LibraryItem };
}

test('a video has tags, the whole description, licence, category and dates', async () => {
  const { service, item } = await publicItem();
  await using _ = service;
  expect(item).toMatchObject({
    id: `peertube:${new URL(service.url).host}/${UUID}`,
    title: 'What is PeerTube?',
    tags: ['framasoft', 'peertube'],
    metadata: {
      description: 'A longer description',
      licence: 'Attribution - Share Alike',
      category: 'Science & Technology',
      language: 'English',
      publishedAt: VIDEO.publishedAt,
    },
    createdAt: VIDEO.createdAt,
    fields: {},
  });
});

test('lists all pages', async () => {
  const { service, source } = await open({
    'GET /api/v1/accounts/framasoft/videos': ({ query }) => {
      const start = Number(query.get('start'));
      const data = [0, 1].map((index) => ({ ...VIDEO, uuid: `${start + index}`, isLive: true }));
      return { body: { total: 6, data } };
    },
  });
  await using _ = service;
  expect(await Array.fromAsync(source.items())).toHaveLength(6);
});

test('the best file of a public video needs no token', async () => {
  const { service, item } = await publicItem();
  await using _ = service;
  expect(await item.media()).toEqual({ url: 'https://peertube.example.com/download/web-videos/2.mp4' });
});

test('video and audio that are stored apart are put together', async () => {
  const files = [fileOf(4, 1080, { hasAudio: false }), fileOf(5, 0, { hasVideo: false })];
  const { service, item } = await publicItem({
    [`GET ${path}`]: { body: { ...WHOLE, files: [], streamingPlaylists: [{ files }] } },
  });
  await using _ = service;
  expect(await item.media()).toEqual({
    url: `${service.url}/download/videos/generate/${UUID}?videoFileIds=4&videoFileIds=5`,
  });
});

test('the owner gets the uploaded file, with a token for it', async () => {
  const original = 'https://peertube.example.com/download/original-video-files/a.mov';
  const { service, source } = await open(
    {
      'GET /api/v1/users/me/videos': list({ ...VIDEO, privacy: { id: 3, label: 'Private' } }),
      [`GET ${path}/source`]: { body: { inputFilename: 'a.mov', fileDownloadUrl: original } },
      [`POST ${path}/token`]: { body: { files: { token: 'file-token', expires: '2030-01-01T00:00:00Z' } } },
    },
    { token: 'user-token' },
  );
  await using _ = service;
  const [item] = (await Array.fromAsync(source.items())) as LibraryItem[];
  expect(item?.fields).toEqual({ playbackPolicy: 'signed' });
  expect(await item?.media()).toEqual({ url: `${original}?videoFileToken=file-token` });
  expect(service.requests[0]?.headers.authorization).toBe('Bearer user-token');
});

test('captions and chapters', async () => {
  const { service, item } = await publicItem({
    [`GET ${path}/captions`]: {
      body: {
        total: 1,
        data: [
          { language: { id: 'fr', label: 'French' }, captionPath: '/lazy-static/video-captions/fr.vtt' },
        ],
      },
    },
    [`GET ${path}/chapters`]: { body: { chapters: [{ timecode: 5, title: 'Start' }] } },
    'GET /lazy-static/video-captions/fr.vtt': { body: 'WEBVTT' },
  });
  await using _ = service;
  expect(await item.details()).toEqual({
    captions: [{ language: 'fr', label: 'French', text: 'WEBVTT' }],
    chapters: [{ start: 5, title: 'Start' }],
    warnings: [],
  });
});

test('versions before 6 have no chapters', async () => {
  const { service, item } = await publicItem({ [`GET ${path}/captions`]: list() });
  await using _ = service;
  expect((await item.details()).chapters).toBeUndefined();
});

test.each([
  ['ftp://example.com', /is not the URL of a PeerTube instance/],
  ['example', /is not the URL of a PeerTube instance/],
])('%s is no instance', (url, message) => {
  const context = { env: {}, signal: AbortSignal.timeout(60_000) };
  expect(() => peertubeSource(context, { url, account: 'a' })).toThrow(message);
});

test('own videos need a token', () => {
  const context = { env: {}, signal: AbortSignal.timeout(60_000) };
  expect(() => peertubeSource(context, { url: 'https://example.com' })).toThrow('PEERTUBE_TOKEN');
});

test('a path of captions cannot name another host', async () => {
  const { service, item } = await publicItem({
    [`GET ${path}/captions`]: {
      body: { data: [{ language: { id: 'fr' }, captionPath: '.attacker.example/fr.vtt' }] },
    },
    [`GET ${path}/chapters`]: { body: { chapters: [] } },
  });
  await using _ = service;
  expect((await item.details()).warnings).toEqual([
    'The captions fr could not be read: PeerTube does not say where they are.',
  ]);
});
