import { z } from 'zod';
import { CliError } from '../../cli-error.ts';
import { allPages } from '../http/pages.ts';
import type { Pause } from '../http/retrying.ts';
import { checkShape, ServiceClient } from '../http/service-client.ts';
import { TransferError } from '../http/transfer-error.ts';
import type { Details, LibraryItem, LibrarySource, Media, SourceContext } from '../library-item.ts';
import { credential } from './credential.ts';
import { detailsOf } from './details-of.ts';
import { readEntry } from './read-entry.ts';
import { serviceSource } from './service-source.ts';

// https://docs.joinpeertube.org/api-rest-reference.html

const PAGE_SIZE = 100;
const PUBLIC = 1;
const UNLISTED = 2;

const label = z.object({ label: z.string() }).nullish();
const listed = z.object({
  uuid: z.string().min(1),
  name: z.string(),
  isLive: z.boolean().default(false),
  privacy: z.object({ id: z.number() }).nullish(),
  licence: label,
  category: label,
  language: label,
  createdAt: z.iso.datetime({ offset: true }),
  publishedAt: z.iso.datetime({ offset: true }).nullish(),
  originallyPublishedAt: z.iso.datetime({ offset: true }).nullish(),
  /** Cut after 250 characters in lists. */
  description: z.string().nullish(),
  truncatedDescription: z.string().nullish(),
});
type Listed = z.infer<typeof listed>;

const file = z.object({
  id: z.number().optional(),
  fileDownloadUrl: z.string().nullish(),
  fileUrl: z.string().nullish(),
  size: z.number(),
  resolution: z.object({ id: z.number() }),
  hasAudio: z.boolean().default(true),
  hasVideo: z.boolean().default(true),
});
type File = z.infer<typeof file>;

const full = z.object({
  uuid: z.string(),
  files: z.array(file).default([]),
  streamingPlaylists: z.array(z.object({ files: z.array(file).default([]) })).default([]),
  tags: z.array(z.string()).default([]),
  description: z.string().nullish(),
});
const page = z.object({ total: z.number(), data: z.array(z.unknown()) });
const captionsList = z.object({
  data: z.array(
    z.object({
      language: z.object({ id: z.string(), label: z.string().optional() }),
      fileUrl: z.string().nullish(),
      captionPath: z.string().nullish(),
      automaticallyGenerated: z.boolean().nullish(),
    }),
  ),
});
const chaptersList = z.object({ chapters: z.array(z.object({ timecode: z.number(), title: z.string() })) });
const source = z.object({ fileDownloadUrl: z.string().nullish() });
const fileToken = z.object({ files: z.object({ token: z.string().min(1) }) });

type Options = { url: string; account?: string | undefined; channel?: string | undefined; pause?: Pause };

/**
 * The videos of an account or a channel of PeerTube; of the user of the token without both. From the uploaded files if the instance keeps
 * them and the token is that of their owner, else from the best MP4.
 */
export function peertubeSource(
  { env, signal }: SourceContext,
  { url, account, channel, ...options }: Options,
): LibrarySource {
  const origin = URL.canParse(url) ? new URL(url).origin : undefined;
  if (origin === undefined || !/^https?:/.test(origin))
    throw new CliError(
      `"${url}" is not the URL of a PeerTube instance. Use one such as https://peertube.example.com.`,
    );
  const mine = account === undefined && channel === undefined;
  const hasToken = mine || Boolean(env.PEERTUBE_TOKEN);
  const token = hasToken
    ? credential(
        env,
        'PEERTUBE_TOKEN',
        'an access token; or name --account or --channel to import public videos',
      )
    : undefined;
  const client = new ServiceClient({
    name: new URL(origin).host,
    baseUrl: origin,
    ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
    denied: 'Check PEERTUBE_TOKEN: tokens of PeerTube expire after a few hours.',
    signal,
    ...options,
  });
  const list = () => items(client, listPath(account, channel), hasToken);
  return { ...serviceSource(client, list), name: 'PeerTube' };
}

function listPath(account: string | undefined, channel: string | undefined): string {
  if (account !== undefined) return `/api/v1/accounts/${encodeURIComponent(account)}/videos`;
  if (channel !== undefined) return `/api/v1/video-channels/${encodeURIComponent(channel)}/videos`;
  return '/api/v1/users/me/videos';
}

async function* items(client: ServiceClient, path: string, hasToken: boolean) {
  const entries = allPages(
    client.name,
    0,
    async (start) => {
      const { total, data } = await client.get(path, page, { start, count: PAGE_SIZE, sort: 'createdAt' });
      const end = start + data.length;
      return { entries: data, next: data.length > 0 && end < total ? end : undefined };
    },
    (entry) => z.object({ uuid: z.string() }).safeParse(entry).data?.uuid,
  );
  for await (const { id, entry } of entries) {
    const item = readEntry('peertube', id, () =>
      itemOf(client, checkShape(entry, listed, client.name), hasToken),
    );
    // The list has neither tags nor the whole description.
    yield 'error' in item ? item : await withWholeRecord(client, item, (entry as Listed).uuid);
  }
}

function itemOf(client: ServiceClient, entry: Listed, hasToken: boolean): LibraryItem {
  const { uuid, name, licence, category, language } = entry;
  return {
    id: `peertube:${client.name}/${uuid}`,
    name,
    title: name,
    filename: `${uuid}.mp4`,
    metadata: {
      licence: licence?.label,
      category: category?.label,
      language: language?.label,
      publishedAt: entry.originallyPublishedAt ?? entry.publishedAt ?? undefined,
    },
    createdAt: entry.createdAt,
    fields: isPublic(entry) ? {} : { playbackPolicy: 'signed' },
    unsupported: entry.isLive ? 'It is a live stream, not a video.' : undefined,
    media: () => bestFile(client, entry, hasToken),
    details: () => detailsAt(client, uuid),
  };
}

function isPublic({ privacy }: Listed): boolean {
  return [PUBLIC, UNLISTED].includes(privacy?.id ?? PUBLIC);
}

async function withWholeRecord(client: ServiceClient, item: LibraryItem, uuid: string): Promise<LibraryItem> {
  if (item.unsupported !== undefined) return item;
  try {
    const { tags, description } = await client.get(`/api/v1/videos/${encodeURIComponent(uuid)}`, full);
    return { ...item, tags, metadata: { description: description ?? undefined, ...item.metadata } };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { ...item, unsupported: error.message };
  }
}

/** The uploaded file, which only its owner gets; else the file with the most lines. */
async function bestFile(client: ServiceClient, entry: Listed, hasToken: boolean): Promise<Media> {
  const path = `/api/v1/videos/${encodeURIComponent(entry.uuid)}`;
  const url =
    (hasToken && (await sourceUrl(client, path))) || chooseFile(client, await client.get(path, full));
  if (isPublic(entry) && !url.includes('/original-video-files/')) return { url };
  const { files } = await client.post(`${path}/token`, fileToken, {});
  const signed = new URL(url);
  signed.searchParams.set('videoFileToken', files.token);
  return { url: signed.href };
}

/** Undefined if the instance does not keep the uploaded file, or gives it to others only. */
async function sourceUrl(client: ServiceClient, path: string): Promise<string | undefined> {
  try {
    return (await client.get(`${path}/source`, source)).fileDownloadUrl ?? undefined;
  } catch (error) {
    if (error instanceof TransferError && [403, 404].includes(error.status ?? 0)) return undefined;
    throw error;
  }
}

/** A file with video and audio; or two files that PeerTube puts together, if it stores them apart. */
function chooseFile(
  client: ServiceClient,
  { uuid, files, streamingPlaylists }: z.infer<typeof full>,
): string {
  const all = [...files, ...streamingPlaylists.flatMap((playlist) => playlist.files)];
  const byHeight = (one: File, other: File) =>
    other.resolution.id - one.resolution.id || other.size - one.size;
  const [video] = all.filter(({ hasVideo }) => hasVideo).sort(byHeight);
  const audio = all.find(({ hasAudio, hasVideo }) => hasAudio && !hasVideo);
  const chosen = video ?? audio;
  if (chosen === undefined) throw new TransferError(`${client.name} offers no file of it.`);
  if (video && !video.hasAudio && audio && video.id !== undefined && audio.id !== undefined) {
    const query = `videoFileIds=${video.id}&videoFileIds=${audio.id}`;
    return client.urlOf(`/download/videos/generate/${encodeURIComponent(uuid)}?${query}`);
  }
  const url = chosen.fileDownloadUrl ?? chosen.fileUrl;
  if (!url) throw new TransferError('The owner has disabled downloads. Use the token of the owner.');
  return url;
}

async function detailsAt(client: ServiceClient, uuid: string): Promise<Details> {
  const path = `/api/v1/videos/${encodeURIComponent(uuid)}`;
  const { data } = await client.get(`${path}/captions`, captionsList);
  const { chapters } = await client.get(`${path}/chapters`, chaptersList).catch(noChapters);
  return detailsOf({
    captions: data.map(({ language, fileUrl, captionPath }) => ({
      language: language.id,
      label: language.label,
      getText: async () => {
        if (fileUrl) return client.textAt(fileUrl);
        // Without the slash, it could continue the name of the host.
        if (captionPath?.startsWith('/')) return client.text(captionPath);
        throw new TransferError('PeerTube does not say where they are.');
      },
    })),
    chapters:
      chapters.length === 0
        ? undefined
        : async () => chapters.map(({ timecode, title }) => ({ start: timecode, title })),
  });
}

/** PeerTube has chapters since version 6. */
function noChapters(error: unknown): z.infer<typeof chaptersList> {
  if (error instanceof TransferError && error.status === 404) return { chapters: [] };
  throw error;
}
