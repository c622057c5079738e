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

// https://www.mux.com/docs/api-reference/video/assets

const track = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string().optional(),
  language_code: z.string().optional(),
  name: z.string().optional(),
});

const asset = z.object({
  id: z.string().min(1),
  status: z.string(),
  /** Seconds since 1970, as a text. */
  created_at: z.coerce.number(),
  passthrough: z.string().optional(),
  meta: z
    .object({
      title: z.string().optional(),
      creator_id: z.string().optional(),
      external_id: z.string().optional(),
    })
    .optional(),
  is_live: z.boolean().optional(),
  playback_ids: z.array(z.object({ id: z.string(), policy: z.string() })).default([]),
  tracks: z.array(track).default([]),
  master: z.object({ status: z.string(), url: z.string().optional() }).optional(),
  static_renditions: z
    .object({
      files: z
        .array(
          z.object({
            name: z.string(),
            ext: z.string(),
            height: z.number().optional(),
            status: z.string().optional(),
          }),
        )
        .default([]),
    })
    .optional(),
});
type Asset = z.infer<typeof asset>;

const assetPage = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullish() });
const oneAsset = z.object({ data: asset });

type Options = { baseUrl?: string; streamUrl?: string; pause?: Pause };

/** The assets of a Mux environment, from their masters: MP4 files of the quality of the originals. */
export function muxSource(
  { env, signal }: SourceContext,
  { baseUrl = 'https://api.mux.com', streamUrl = 'https://stream.mux.com', ...options }: Options = {},
): LibrarySource {
  const id = credential(
    env,
    'MUX_TOKEN_ID',
    'the id of an access token with the permissions Mux Video read and write',
  );
  const secret = credential(env, 'MUX_TOKEN_SECRET', 'the secret of the access token');
  const client = new ServiceClient({
    name: 'Mux',
    baseUrl,
    headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    denied: 'Check MUX_TOKEN_ID and MUX_TOKEN_SECRET. Masters need a token that may write.',
    signal,
    ...options,
  });
  return serviceSource(client, () => items(client, streamUrl));
}

async function* items(client: ServiceClient, streamUrl: string) {
  const entries = allPages(
    client.name,
    '',
    async (cursor) => {
      const query = { limit: 100, ...(cursor !== '' && { cursor }) };
      const page = await client.get('/video/v1/assets', assetPage, query);
      return { entries: page.data, next: page.next_cursor || undefined };
    },
    (entry) => z.object({ id: z.string() }).safeParse(entry).data?.id,
  );
  for await (const { id, entry } of entries)
    yield readEntry('mux', id, () => itemOf(client, streamUrl, checkShape(entry, asset, client.name)));
}

function itemOf(client: ServiceClient, streamUrl: string, entry: Asset): LibraryItem {
  const { id, status, created_at, passthrough, meta, is_live, tracks } = entry;
  const playbackId = entry.playback_ids.find(({ policy }) => policy === 'public')?.id;
  const texts = tracks.filter((one) => one.type === 'text' && (one.status ?? 'ready') === 'ready');
  return {
    id: `mux:${id}`,
    name: meta?.title ?? id,
    title: meta?.title,
    filename: `${id}.mp4`,
    passthrough,
    metadata: { muxCreatorId: meta?.creator_id, muxExternalId: meta?.external_id },
    createdAt: new Date(created_at * 1000).toISOString(),
    fields: playbackId === undefined && entry.playback_ids.length > 0 ? { playbackPolicy: 'signed' } : {},
    unsupported: reasonAgainst(status, is_live),
    warnings:
      texts.length > 0 && playbackId === undefined
        ? ['Its captions need a public playback id at Mux. Add one, or add the captions here yourself.']
        : [],
    media: () => masterOf(client, streamUrl, entry, playbackId),
    details: () =>
      detailsOf({
        captions: texts.flatMap((one) =>
          playbackId === undefined
            ? []
            : {
                language: one.language_code ?? 'und',
                label: one.name,
                getText: () => client.textAt(`${streamUrl}/${playbackId}/text/${one.id}.vtt`),
              },
        ),
      }),
  };
}

function reasonAgainst(status: string, isLive: boolean | undefined): string | undefined {
  if (isLive) return 'It is live. Import it after the end of the stream.';
  return status === 'ready' ? undefined : `Its status at Mux is "${status}".`;
}

/** Asks for the master, which Mux makes within minutes and gives away for 24 hours. Without one, the best static rendition. */
async function masterOf(
  client: ServiceClient,
  streamUrl: string,
  { id, static_renditions }: Asset,
  playbackId: string | undefined,
): Promise<Media> {
  const path = `/video/v1/assets/${encodeURIComponent(id)}`;
  let requested = false;
  const url = await poll(client, 'Mux prepares the master', async () => {
    // The list may be older than the day for which a URL is valid.
    const { master } = (await client.get(path, oneAsset)).data;
    if (master?.status === 'ready') return master.url;
    if (master?.status === 'errored' && requested) return { failed: true } as const;
    if (master?.status === 'preparing' || requested) return undefined;
    await client.put(`${path}/master-access`, z.unknown(), { master_access: 'temporary' });
    requested = true;
    return undefined;
  });
  if (typeof url === 'string') return { url };
  const [rendition] = (static_renditions?.files ?? [])
    .filter(({ ext, status }) => ext === 'mp4' && (status ?? 'ready') === 'ready')
    .sort((one, other) => (other.height ?? 0) - (one.height ?? 0));
  if (rendition === undefined || playbackId === undefined)
    throw new TransferError(
      'Mux cannot make its master, and it has no static rendition with a public playback id.',
    );
  return { url: `${streamUrl}/${playbackId}/${rendition.name}` };
}
