import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FramelaneClient, Schemas, Video } from '@framelane/client';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection.ts';
import { EXPORTED_VIDEO_FILE, type ExportedVideo, exportedVideo } from '../library/exported-video.ts';
import { download, sha256Of } from '../library/http/download.ts';
import { pause } from '../library/http/retrying.ts';
import { renditionName, sourceName } from './file-names.ts';
import { prepareRendition } from './prepare-rendition.ts';

/** Longer than any download takes. */
const TOKEN_SECONDS = 24 * 60 * 60;

export type ExportContext = {
  client: FramelaneClient;
  connection: Connection;
  /** Whether to fetch uploaded files. */
  sources: boolean;
  /** The renditions to fetch as MP4. */
  renditions: readonly Schemas['DownloadName'][];
  signal: AbortSignal;
};

type Files = ExportedVideo['files'];
type Fetch = (url: string, name: string) => Promise<{ name: string; bytes: number }>;

/**
 * Writes a video to its folder. Media files that are already complete there are not fetched again; partial ones are continued. Everything else
 * is small and always written. `video.json` comes last: a folder without it is not complete.
 */
export async function exportVideo(
  video: Video,
  folder: string,
  context: ExportContext,
): Promise<{ bytes: number; warnings: string[] }> {
  await mkdir(folder, { recursive: true });
  const earlier = await readEarlier(folder, video);
  const warnings: string[] = [];
  const fetchMedia: Fetch = async (url, name) => {
    const options = { headers: headersFor(url, context.connection), trustedHosts: 'all', pause } as const;
    return { name, bytes: await download(url, join(folder, name), { ...options, signal: context.signal }) };
  };
  const token = await tokenFor(video, context);
  const signed = (url: string) => {
    const target = new URL(url);
    if (token !== undefined) target.searchParams.set('token', token);
    return target.href;
  };
  const source = context.sources ? await exportSource(video, folder, fetchMedia, context) : undefined;
  const files: Files = {
    ...(source && { source }),
    downloads: await exportRenditions(video, { folder, earlier, fetchMedia, signed, warnings }, context),
    captions: await exportCaptions(video, folder, context),
    ...(video.chapterCount > 0 && { chapters: await exportChapters(video, folder, context) }),
    ...(video.thumbnail !== null && { poster: await fetchMedia(signed(video.thumbnail), 'poster.jpg') }),
  };
  if (context.sources && source === undefined) warnings.push('The uploaded file is not stored any more.');
  if (source === undefined && files.downloads.length === 0)
    warnings.push('It has no media file in the export.');
  // The API's record without what changes by itself.
  const { downloads, storageBytes, ...record } = video;
  await writeJson(join(folder, EXPORTED_VIDEO_FILE), {
    format: 'framelane-video',
    version: 1,
    record,
    files,
  });
  const bytes = [source, ...files.downloads].reduce((sum, file) => sum + (file?.bytes ?? 0), 0);
  return { bytes, warnings };
}

/** Replaces a file with JSON. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.part`, `${JSON.stringify(value, null, 2)}\n`);
  await rename(`${path}.part`, path);
}

/** The content of a JSON file; undefined if it is missing or damaged. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** What an earlier run has written, if the video still has the same renditions. */
async function readEarlier(folder: string, { id, readyAt }: Video): Promise<Files | undefined> {
  const { success, data } = exportedVideo.safeParse(await readJson(join(folder, EXPORTED_VIDEO_FILE)));
  return success && data.record.id === id && data.record.readyAt === readyAt ? data.files : undefined;
}

/** The API key is sent to the API only. */
function headersFor(url: string, { baseUrl, apiKey, workspaceId }: Connection): Record<string, string> {
  if (!url.startsWith(`${baseUrl}/videos/`)) return {};
  return { Authorization: `Bearer ${apiKey}`, 'X-Svc-Workspace': workspaceId };
}

async function tokenFor(
  { id, playbackPolicy, status }: Video,
  { client, signal }: ExportContext,
): Promise<string | undefined> {
  if (playbackPolicy !== 'signed' || status !== 'ready') return undefined;
  const request = { allowDownloads: true, expiresIn: TOKEN_SECONDS };
  return (await client.videos.createPlaybackToken(id, request, { signal })).token;
}

async function exportSource(
  { id, filename, size, source, sourceFile }: Video,
  folder: string,
  fetchMedia: Fetch,
  { connection }: ExportContext,
): Promise<Files['source']> {
  if (!sourceFile.stored) return undefined;
  const name = sourceName(filename);
  const path = join(folder, name);
  if (size !== null && (await sizeOf(path)) === size) return { name, bytes: size };
  const fetched = await fetchMedia(`${connection.baseUrl}/videos/${id}/source`, name);
  const expected = source?.sha256;
  if ((size !== null && fetched.bytes !== size) || (expected && (await sha256Of(path)) !== expected)) {
    await rename(path, `${path}.damaged`);
    throw new CliError('The uploaded file was damaged during the download. Run the command again.');
  }
  return fetched;
}

async function exportRenditions(
  video: Video,
  {
    folder,
    earlier,
    fetchMedia,
    signed,
    warnings,
  }: {
    folder: string;
    earlier: Files | undefined;
    fetchMedia: Fetch;
    signed: (url: string) => string;
    warnings: string[];
  },
  context: ExportContext,
): Promise<Files['downloads']> {
  if (video.status !== 'ready') return [];
  // Sound alone has one rendition.
  const wanted = video.audioOnly
    ? context.renditions.slice(0, 1).map(() => 'audio' as const)
    : context.renditions;
  const found: Files['downloads'] = [];
  for (const file of wanted) {
    const name = renditionName(file);
    const before = earlier?.downloads.find((one) => one.file === file);
    if (before !== undefined && (await sizeOf(join(folder, name))) === before.bytes) {
      found.push(before);
      continue;
    }
    const prepared = await prepareRendition(video, file, context);
    if ('problem' in prepared) {
      warnings.push(`${name}: ${prepared.problem}`);
      continue;
    }
    try {
      found.push({ file, ...(await fetchMedia(signed(prepared.url), name)) });
    } catch (error) {
      // The first error says more.
      await prepared.remove().catch(() => {});
      throw error;
    }
    await prepared.remove();
  }
  return found;
}

async function exportCaptions(
  { id, captions }: Video,
  folder: string,
  { client, signal }: ExportContext,
): Promise<Files['captions']> {
  const files: Files['captions'] = [];
  for (const { language, label, default: isDefault } of captions) {
    const text = await client.captions.get(id, language, { signal });
    const name = `captions.${language.replace(/[^A-Za-z0-9-]/g, '_')}.vtt`;
    await writeFile(join(folder, name), text);
    files.push({ name, bytes: Buffer.byteLength(text), language, label, default: isDefault });
  }
  return files;
}

async function exportChapters(
  { id }: Video,
  folder: string,
  { client, signal }: ExportContext,
): Promise<NonNullable<Files['chapters']>> {
  const name = 'chapters.json';
  const { chapters } = await client.chapters.get(id, { signal });
  await writeJson(join(folder, name), { chapters });
  return { name, bytes: (await sizeOf(join(folder, name))) ?? 0 };
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}
