import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { muxSource } from './mux.ts';

/** As in https://www.mux.com/docs/api-reference/video/assets, "List assets" and "Retrieve an asset". */
const ASSET = {
  id: 'SqQnqz6s5MBuXGvJaUWdXuXM93J9Q2yv',
  status: 'ready',
  created_at: '1609868768',
  passthrough: 'order-17',
  meta: { title: 'Big Buck Bunny', creator_id: 'creator-1', external_id: 'bbb' },
  playback_ids: [
    { policy: 'signed', id: 'signed-id' },
    { policy: 'public', id: 'public-id' },
  ],
  tracks: [
    { type: 'video', max_width: 1920, max_height: 1080, id: 'track-1', duration: 23.8238 },
    {
      type: 'text',
      text_type: 'subtitles',
      text_source: 'uploaded',
      status: 'ready',
      language_code: 'en-US',
      name: 'English',
      id: 'track-2',
    },
    { type: 'text', status: 'errored', language_code: 'de', id: 'track-3' },
  ],
  master_access: 'none',
  duration: 23.857167,
};
const MASTER = 'https://master.mux.com/abc/master.mp4?skid=default&signature=NjA';
const path = `/video/v1/assets/${ASSET.id}`;

async function open(routes: Record<string, ServiceRoute>) {
  const service = await FakeService.start(routes);
  const context = {
    env: { MUX_TOKEN_ID: 'token-id', MUX_TOKEN_SECRET: 'token-secret' },
    signal: AbortSignal.timeout(60_000),
  };
  const { url } = service;
  return { service, source: muxSource(context, { baseUrl: url, streamUrl: url, pause: async () => {} }) };
}

async function onlyItem(routes: Record<string, ServiceRoute>, asset: object = ASSET) {
  const { service, source } = await open({ 'GET /video/v1/assets': { body: { data: [asset] } }, ...routes });
  const [item] = await Array.fromAsync(source.items());
  return { service, item: item as LibraryItem };
}

test('lists all pages by cursor, with the token', async () => {
  const pages: Record<string, object> = {
    '': { data: [ASSET], next_cursor: 'eyJwYWdlIjoy' },
    eyJwYWdlIjoy: { data: [{ ...ASSET, id: 'second' }], next_cursor: null },
  };
  const { service, source } = await open({
    'GET /video/v1/assets': ({ query }) => ({ body: pages[query.get('cursor') ?? ''] ?? {} }),
  });
  await using _ = service;
  const items = await Array.fromAsync(source.items());
  expect(items.map(({ id }) => id)).toEqual([`mux:${ASSET.id}`, 'mux:second']);
  expect(service.requests[0]?.headers.authorization).toBe(`Basic ${btoa('token-id:token-secret')}`);
});

test('an asset has title, passthrough, dates and ids', async () => {
  const { service, item } = await onlyItem({});
  await using _ = service;
  expect(item).toMatchObject({
    title: 'Big Buck Bunny',
    passthrough: 'order-17',
    metadata: { muxCreatorId: 'creator-1', muxExternalId: 'bbb' },
    createdAt: '2021-01-05T17:46:08.000Z',
    unsupported: undefined,
    warnings: [],
  });
});

test('the master is requested and waited for', async () => {
  const masters = [undefined, { status: 'preparing' }, { status: 'ready', url: MASTER }];
  const { service, item } = await onlyItem({
    [`PUT ${path}/master-access`]: { body: { data: { ...ASSET, master: { status: 'preparing' } } } },
    [`GET ${path}`]: () => ({ body: { data: { ...ASSET, master: masters.shift() } } }),
  });
  await using _ = service;
  expect(await item.media()).toEqual({ url: MASTER });
  const puts = service.requests.filter(({ method }) => method === 'PUT').map(({ body }) => body);
  expect(puts).toEqual(['{"master_access":"temporary"}']);
});

test('the URL of a master that is there already is asked for again, because it expires', async () => {
  const master = { status: 'ready', url: MASTER };
  const { service, item } = await onlyItem(
    { [`GET ${path}`]: { body: { data: { ...ASSET, master } } } },
    { ...ASSET, master: { ...master, url: 'https://master.mux.com/expired' } },
  );
  await using _ = service;
  expect(await item.media()).toEqual({ url: MASTER });
});

test('without a master, the highest static rendition is used', async () => {
  const files = [
    { name: '720p.mp4', ext: 'mp4', height: 720, status: 'ready' },
    { name: '1080p.mp4', ext: 'mp4', height: 1080, status: 'ready' },
    { name: '2160p.mp4', ext: 'mp4', height: 2160, status: 'preparing' },
    { name: 'audio.m4a', ext: 'm4a', status: 'ready' },
  ];
  const routes = {
    [`PUT ${path}/master-access`]: { body: {} },
    [`GET ${path}`]: { body: { data: { ...ASSET, master: { status: 'errored' } } } },
  };
  const { service, item } = await onlyItem(routes, { ...ASSET, static_renditions: { files } });
  await using _ = service;
  expect(await item.media()).toEqual({ url: `${service.url}/public-id/1080p.mp4` });
});

test('captions that are ready come from the public playback id', async () => {
  const { service, item } = await onlyItem({ 'GET /public-id/text/track-2.vtt': { body: 'WEBVTT\n' } });
  await using _ = service;
  expect(await item.details()).toEqual({
    captions: [{ language: 'en-US', label: 'English', text: 'WEBVTT\n' }],
    chapters: undefined,
    warnings: [],
  });
});

test('without a public playback id, captions are a warning', async () => {
  const { service, item } = await onlyItem({}, { ...ASSET, playback_ids: [] });
  await using _ = service;
  expect(item.warnings).toEqual([expect.stringContaining('public playback id')]);
  expect((await item.details()).captions).toEqual([]);
});

test.each([
  [{ status: 'errored' }, 'Its status at Mux is "errored".'],
  [{ is_live: true }, 'It is live. Import it after the end of the stream.'],
])('%j cannot be imported', async (fields, reason) => {
  const { service, item } = await onlyItem({}, { ...ASSET, ...fields });
  await using _ = service;
  expect(item.unsupported).toBe(reason);
});

test('an asset without a public playback id becomes signed', async () => {
  const { service, item } = await onlyItem({}, { ...ASSET, playback_ids: [{ policy: 'signed', id: 'x' }] });
  await using _ = service;
  expect(item.fields).toEqual({ playbackPolicy: 'signed' });
});

test('an asset that lacks a field does not end the list', async () => {
  const { service, source } = await open({
    'GET /video/v1/assets': { body: { data: [{ id: 'bad' }, ASSET] } },
  });
  await using _ = service;
  const [bad, good] = await Array.fromAsync(source.items());
  expect(bad).toMatchObject({
    id: 'mux:bad',
    error: { message: expect.stringContaining('not as documented: status') },
  });
  expect(good).toMatchObject({ id: `mux:${ASSET.id}` });
});

test('credentials are needed, and named', () => {
  const context = { env: { MUX_TOKEN_ID: 'x' }, signal: AbortSignal.timeout(60_000) };
  expect(() => muxSource(context)).toThrow('Set the environment variable MUX_TOKEN_SECRET');
});
