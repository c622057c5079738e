import { z } from 'zod';
import { allPages } from '../http/pages.ts';
import type { Pause } from '../http/retrying.ts';
import { checkShape, ServiceClient } from '../http/service-client.ts';
import { TransferError } from '../http/transfer-error.ts';
import type { Details, LibraryItem, LibrarySource, Media, SourceContext } from '../library-item.ts';
import { credential } from './credential.ts';
import { detailsOf } from './details-of.ts';
import { readEntry } from './read-entry.ts';
import { serviceSource } from './service-source.ts';
import { isMediaName, withoutExtension } from './sidecars.ts';

// https://docs.api.video/reference/api/Videos, /Captions and /Chapters

const PAGE_SIZE = 100;

const video = z.object({
  videoId: z.string().min(1),
  title: z.string().nullish(),
  description: z.string().nullish(),
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  publishedAt: z.iso.datetime({ offset: true }).nullish(),
  discarded: z.boolean().nullish(),
  tags: z.array(z.string()).nullish(),
  metadata: z.array(z.object({ key: z.string(), value: z.string() })).nullish(),
  public: z.boolean().nullish(),
  mp4Support: z.boolean().nullish(),
  assets: z.object({ mp4: z.string().nullish() }).nullish(),
});
type ApiVideo = z.infer<typeof video>;

const page = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ currentPage: z.number(), pagesTotal: z.number() }),
});
const caption = z.object({
  src: z.string(),
  srclang: z.string(),
  languageName: z.string().nullish(),
  default: z.boolean().nullish(),
});
const chapter = z.object({ src: z.string(), language: z.string().nullish() });

type Options = { baseUrl?: string; pause?: Pause };

/** The videos of api.video, from their MP4 files. api.video gives no originals. */
export function apiVideoSource(
  { env, signal }: SourceContext,
  { baseUrl = 'https://ws.api.video', ...options }: Options = {},
): LibrarySource {
  const key = credential(env, 'API_VIDEO_API_KEY', 'an API key of api.video');
  const client = new ServiceClient({
    name: 'api.video',
    baseUrl,
    headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    denied: 'Check API_VIDEO_API_KEY. A key of the sandbox needs --api-url https://sandbox.api.video.',
    signal,
    ...options,
  });
  return serviceSource(client, () => items(client));
}

async function* items(client: ServiceClient) {
  const list = listOf(client, '/videos', { sortBy: 'createdAt', sortOrder: 'asc' }, 'videoId');
  for await (const { id, entry } of list)
    yield readEntry('api-video', id, () => itemOf(client, checkShape(entry, video, client.name)));
}

function listOf(client: ServiceClient, path: string, query: Record<string, string>, idField: string) {
  return allPages(
    client.name,
    1,
    async (currentPage) => {
      const { data, pagination } = await client.get(path, page, {
        ...query,
        currentPage,
        pageSize: PAGE_SIZE,
      });
      return { entries: data, next: currentPage < pagination.pagesTotal ? currentPage + 1 : undefined };
    },
    (entry) => z.object({ [idField]: z.string() }).safeParse(entry).data?.[idField],
  );
}

function itemOf(client: ServiceClient, entry: ApiVideo): LibraryItem {
  const { videoId, title, description, tags, metadata, discarded } = entry;
  return {
    id: `api-video:${videoId}`,
    name: title || videoId,
    // Without a title of its own, a video has the name of its file.
    title: title && isMediaName(title) ? withoutExtension(title) : (title ?? undefined),
    filename: `${videoId}.mp4`,
    tags: tags ?? [],
    metadata: {
      description: description ?? undefined,
      ...Object.fromEntries((metadata ?? []).map(({ key, value }) => [key, value])),
    },
    createdAt: entry.createdAt ?? entry.publishedAt ?? undefined,
    fields: entry.public === false ? { playbackPolicy: 'signed' } : {},
    unsupported: discarded ? 'It is discarded at api.video. Restore it there first.' : reasonAgainst(entry),
    media: () => fileOf(client, videoId),
    details: () => detailsAt(client, videoId),
  };
}

function reasonAgainst({ mp4Support, assets }: ApiVideo): string | undefined {
  return mp4Support && assets?.mp4
    ? undefined
    : 'It has no MP4 at api.video, and there is no other way to get it. Set its mp4Support to true there.';
}

/** Asks again, because the URL of a private video works once. */
async function fileOf(client: ServiceClient, videoId: string): Promise<Media> {
  const { assets } = await client.get(`/videos/${encodeURIComponent(videoId)}`, video);
  if (!assets?.mp4) throw new TransferError('api.video does not give the URL of its MP4 any more.');
  return { url: assets.mp4 };
}

async function detailsAt(client: ServiceClient, videoId: string): Promise<Details> {
  const path = `/videos/${encodeURIComponent(videoId)}`;
  const captions: z.infer<typeof caption>[] = [];
  for await (const { entry } of listOf(client, `${path}/captions`, {}, 'srclang'))
    captions.push(checkShape(entry, caption, client.name));
  let chapters: z.infer<typeof chapter> | undefined;
  for await (const { entry } of listOf(client, `${path}/chapters`, {}, 'language'))
    chapters ??= checkShape(entry, chapter, client.name);
  const { src } = chapters ?? {};
  return detailsOf({
    captions: captions.map((one) => ({
      language: one.srclang,
      label: one.languageName ?? undefined,
      default: one.default ?? false,
      getText: () => client.textAt(one.src),
    })),
    chapters: src === undefined ? undefined : () => client.textAt(src),
  });
}
