import { z } from 'zod';
import { allPages } from '../http/pages.ts';
import { poll } from '../http/poll.ts';
import type { Pause } from '../http/retrying.ts';
import { checkShape, ServiceClient } from '../http/service-client.ts';
import { TransferError } from '../http/transfer-error.ts';
import type { LibraryItem, LibrarySource, Media, SourceContext } from '../library-item.ts';
import { credential } from './credential.ts';
import { detailsOf } from './details-of.ts';
import { readEntry } from './read-entry.ts';
import { serviceSource } from './service-source.ts';

// https://developers.cloudflare.com/api/resources/stream/ and
// https://developers.cloudflare.com/stream/viewing-videos/download-videos

const PAGE_SIZE = 1000;

const video = z.object({
  uid: z.string().min(1),
  created: z.iso.datetime({ offset: true }),
  creator: z.string().nullish(),
  size: z.number().nullish(),
  requireSignedURLs: z.boolean().default(false),
  readyToStream: z.boolean().default(false),
  status: z.object({ state: z.string(), errorReasonText: z.string().nullish() }).optional(),
  meta: z.record(z.string(), z.unknown()).default({}),
});
type CloudflareVideo = z.infer<typeof video>;

const videoPage = z.object({ result: z.array(z.unknown()).nullable() });
const download = z.object({ status: z.string(), url: z.string().optional() });
/** The reference shows a download, the guide and the list show it as `default`. */
const downloads = z.object({ result: z.union([z.object({ default: download }), download]) });
const captionsPage = z.object({
  result: z
    .array(z.object({ language: z.string(), label: z.string().optional(), status: z.string().optional() }))
    .nullable(),
});
const token = z.object({ result: z.object({ token: z.string().min(1) }) });

type Options = { account: string; baseUrl?: string; pause?: Pause };

/** The videos of Cloudflare Stream, from MP4 downloads that are created for them. Cloudflare gives no originals. */
export function cloudflareSource(
  { env, signal }: SourceContext,
  { account, baseUrl = 'https://api.cloudflare.com/client/v4', ...options }: Options,
): LibrarySource {
  const secret = credential(env, 'CLOUDFLARE_API_TOKEN', 'an API token with the permission Stream: Edit');
  const client = new ServiceClient({
    name: 'Cloudflare Stream',
    baseUrl: `${baseUrl}/accounts/${encodeURIComponent(account)}/stream`,
    headers: { Authorization: `Bearer ${secret}` },
    denied:
      'Check CLOUDFLARE_API_TOKEN and the id of the account. Downloads need the permission Stream: Edit.',
    signal,
    ...options,
  });
  return serviceSource(client, () => items(client));
}

async function* items(client: ServiceClient) {
  const entries = allPages(
    client.name,
    '',
    async (start) => {
      const query = { asc: true, limit: PAGE_SIZE, ...(start !== '' && { start }) };
      const entries = (await client.get('', videoPage, query)).result ?? [];
      return { entries, next: entries.length < PAGE_SIZE ? undefined : nextStart(entries, client.name) };
    },
    (entry) => z.object({ uid: z.string() }).safeParse(entry).data?.uid,
  );
  for await (const { id, entry } of entries)
    yield readEntry('cloudflare', id, () => itemOf(client, checkShape(entry, video, client.name)));
}

/** The list has no cursor: the next page begins a second before the last video, because several can have the same time. */
function nextStart(entries: readonly unknown[], server: string): string {
  const { created } = checkShape(entries.at(-1), video.pick({ created: true }), server);
  return new Date(Date.parse(created) - 1000).toISOString();
}

function itemOf(client: ServiceClient, entry: CloudflareVideo): LibraryItem {
  const { uid, created, creator, readyToStream, status, meta } = entry;
  const { name, ...others } = meta;
  const title = typeof name === 'string' ? name : undefined;
  return {
    id: `cloudflare:${uid}`,
    name: title ?? uid,
    title,
    filename: `${uid}.mp4`,
    metadata: { cloudflareCreator: creator ?? undefined, ...textsOf(others) },
    createdAt: created,
    fields: entry.requireSignedURLs ? { playbackPolicy: 'signed' } : {},
    unsupported: readyToStream
      ? undefined
      : `Its status at Cloudflare is "${status?.state ?? 'unknown'}"${status?.errorReasonText ? `: ${status.errorReasonText}` : ''}.`,
    media: () => downloadOf(client, entry),
    details: () => captionsOf(client, uid),
  };
}

function textsOf(meta: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(meta).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Creates the download if it is missing, and waits until it is ready. */
async function downloadOf(
  client: ServiceClient,
  { uid, requireSignedURLs }: CloudflareVideo,
): Promise<Media> {
  const path = `/${encodeURIComponent(uid)}`;
  await client.post(`${path}/downloads`, z.unknown(), {});
  const url = await poll(client, 'Cloudflare prepares the download', async () => {
    const { result } = await client.get(`${path}/downloads`, downloads);
    const { status, url } = 'default' in result ? result.default : result;
    if (status === 'error') throw new TransferError('Cloudflare could not make the download.');
    return status === 'ready' && url;
  });
  if (!requireSignedURLs) return { url };
  const { result } = await client.post(`${path}/token`, token, { downloadable: true });
  // A signed URL has the token in place of the id.
  return { url: url.replace(uid, result.token) };
}

async function captionsOf(client: ServiceClient, uid: string) {
  const path = `/${encodeURIComponent(uid)}/captions`;
  const { result } = await client.get(path, captionsPage);
  return detailsOf({
    captions: (result ?? [])
      .filter(({ status }) => (status ?? 'ready') === 'ready')
      .map(({ language, label }) => ({
        language,
        label,
        getText: () => client.text(`${path}/${encodeURIComponent(language)}/vtt`),
      })),
  });
}
