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

// https://docs.bunny.net/api-reference/stream/manage-videos/list-videos,
// https://docs.bunny.net/api-reference/stream/manage-videos/get-video-play-data and
// https://docs.bunny.net/docs/stream-video-storage-structure

const PAGE_SIZE = 100;
/** Finished, and the two states of videos that are encoded when they are watched. */
const PLAYABLE = [4, 7, 8];

const video = z.object({
  guid: z.string().min(1),
  title: z.string(),
  dateUploaded: z.string(),
  status: z.number(),
  collectionId: z.string().nullish(),
  category: z.string().nullish(),
  description: z.string().nullish(),
  hasMP4Fallback: z.boolean().default(false),
  hasOriginal: z.boolean().nullish(),
  captions: z.array(z.object({ srclang: z.string(), label: z.string().nullish() })).nullish(),
  chapters: z.array(z.object({ title: z.string(), start: z.number() })).nullish(),
  metaTags: z.array(z.object({ property: z.string().nullish(), value: z.string().nullish() })).nullish(),
});
type BunnyVideo = z.infer<typeof video>;

const listPage = z.object({
  totalItems: z.number(),
  currentPage: z.number(),
  itemsPerPage: z.number(),
  items: z.array(z.unknown()),
});
const collection = z.object({ guid: z.string(), name: z.string() });
const playData = z.object({
  originalUrl: z.string().nullish(),
  fallbackUrl: z.string().nullish(),
  captionsPath: z.string().nullish(),
});

type Options = { library: string; baseUrl?: string; pause?: Pause };

/** The videos of a library of Bunny Stream, from their originals if the library keeps them, else from their MP4 fallback. */
export function bunnySource(
  { env, signal }: SourceContext,
  { library, baseUrl = 'https://video.bunnycdn.com', ...options }: Options,
): LibrarySource {
  const key = credential(env, 'BUNNY_API_KEY', 'the API key of the video library');
  const client = new ServiceClient({
    name: 'Bunny Stream',
    baseUrl: `${baseUrl}/library/${encodeURIComponent(library)}`,
    headers: { AccessKey: key },
    denied:
      'Check BUNNY_API_KEY and the id of the library. The key is that of the library, not that of the account.',
    signal,
    ...options,
  });
  return serviceSource(client, () => items(client, library));
}

async function* items(client: ServiceClient, library: string) {
  const collections = new Map<string, string>();
  for await (const { entry } of listOf(client, '/collections')) {
    const { guid, name } = checkShape(entry, collection, client.name);
    collections.set(guid, name);
  }
  for await (const { id, entry } of listOf(client, '/videos'))
    yield readEntry('bunny', id, () =>
      itemOf(client, { library, collections }, checkShape(entry, video, client.name)),
    );
}

function listOf(client: ServiceClient, path: string) {
  return allPages(
    client.name,
    1,
    async (page) => {
      const query = { page, itemsPerPage: PAGE_SIZE, orderBy: 'date' };
      const { items, totalItems } = await client.get(path, listPage, query);
      return {
        entries: items,
        next: items.length > 0 && page * PAGE_SIZE < totalItems ? page + 1 : undefined,
      };
    },
    (entry) => z.object({ guid: z.string() }).safeParse(entry).data?.guid,
  );
}

function itemOf(
  client: ServiceClient,
  { library, collections }: { library: string; collections: ReadonlyMap<string, string> },
  entry: BunnyVideo,
): LibraryItem {
  const { guid, title, dateUploaded, status, collectionId, category, description } = entry;
  const name = collections.get(collectionId ?? '');
  return {
    id: `bunny:${library}/${guid}`,
    name: title || guid,
    title,
    filename: `${guid}.mp4`,
    tags: name === undefined ? [] : [name],
    metadata: {
      description: description ?? undefined,
      bunnyCategory: category ?? undefined,
      ...Object.fromEntries(
        (entry.metaTags ?? []).flatMap(({ property, value }) =>
          property && value ? [[property, value]] : [],
        ),
      ),
    },
    createdAt: readDate(dateUploaded, client.name),
    unsupported: reasonAgainst(entry, status),
    media: () => fileOf(client, entry),
    details: () => detailsAt(client, entry),
  };
}

/** Bunny's times have no zone: they are UTC. */
function readDate(text: string, server: string): string {
  const ms = Date.parse(/Z|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
  if (Number.isNaN(ms)) throw new TransferError(`${server} gives the time "${text}", which cannot be read.`);
  return new Date(ms).toISOString();
}

function reasonAgainst({ hasOriginal, hasMP4Fallback }: BunnyVideo, status: number): string | undefined {
  if (!PLAYABLE.includes(status)) return `Its status at Bunny is ${status}: it is not finished.`;
  if (hasOriginal !== false || hasMP4Fallback) return undefined;
  return 'Bunny keeps neither its original nor an MP4. Enable "Keep original files" or "MP4 fallback", and encode it again.';
}

async function fileOf(
  client: ServiceClient,
  { guid, hasOriginal, hasMP4Fallback }: BunnyVideo,
): Promise<Media> {
  const { originalUrl, fallbackUrl } = await client.get(`/videos/${encodeURIComponent(guid)}/play`, playData);
  if (hasOriginal !== false && originalUrl) return { url: originalUrl };
  if (hasMP4Fallback && fallbackUrl) return { url: fallbackUrl };
  throw new TransferError('Bunny gives neither the URL of its original nor that of an MP4.');
}

async function detailsAt(client: ServiceClient, { guid, captions, chapters }: BunnyVideo): Promise<Details> {
  const path = `/videos/${encodeURIComponent(guid)}/play`;
  const base = captions?.length ? (await client.get(path, playData)).captionsPath : undefined;
  return detailsOf({
    captions: (captions ?? []).map(({ srclang, label }) => ({
      language: srclang,
      label: label ?? undefined,
      getText: async () => {
        if (!base) throw new TransferError('Bunny does not say where they are.');
        return client.textAt(`${base.replace(/\/$/, '')}/${encodeURIComponent(srclang)}.vtt`);
      },
    })),
    chapters: chapters?.length
      ? async () => chapters.map(({ start, title }) => ({ start, title }))
      : undefined,
  });
}
