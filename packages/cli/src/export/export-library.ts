import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FramelaneClient, Video } from '@framelane/client';
import pMap from 'p-map';
import { EXPORTED_VIDEO_FILE } from '../library/exported-video.ts';
import { inOneLine } from '../library/in-one-line.ts';
import { type ExportContext, exportVideo, readJson } from './export-video.ts';
import { folderName, idInFolderName } from './file-names.ts';

/** The list of everything in an export. */
export const LIBRARY_FILE = 'library.json';

export type ExportEntry = {
  videoId: string;
  title: string;
  folder: string;
  bytes: number;
  warnings: readonly string[];
  /** Why it could not be exported. */
  error?: string;
};

export type ExportReport = { exported: number; failed: number; bytes: number; items: readonly ExportEntry[] };

export type ExportOptions = {
  folder: string;
  query: Parameters<FramelaneClient['videos']['list']>[0];
  concurrency: number;
  onEntry: (entry: ExportEntry) => void;
};

/** Exports the videos of a list into a folder, and writes the list of all videos there. The failure of one stops no other. */
export async function exportLibrary(
  { folder, query, concurrency, onEntry }: ExportOptions,
  context: ExportContext,
): Promise<ExportReport> {
  const { client, connection, signal } = context;
  await mkdir(folder, { recursive: true });
  const folders = await foldersById(folder);
  const items: ExportEntry[] = [];
  const run = async (video: Video) => {
    const name = folders.get(video.id) ?? folderName(video);
    const entry = await exported(video, join(folder, name), context);
    if (signal.aborted) return;
    items.push({ ...entry, folder: name });
    onEntry({ ...entry, folder: name });
  };
  await pMap(client.videos.list({ limit: 100, order: 'asc', ...query }, { signal }), run, {
    concurrency,
    signal,
  });
  await writeLibrary(folder, connection.workspaceId);
  const failed = items.filter(({ error }) => error !== undefined).length;
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
  return { exported: items.length - failed, failed, bytes, items };
}

async function exported(
  video: Video,
  folder: string,
  context: ExportContext,
): Promise<Omit<ExportEntry, 'folder'>> {
  const { id: videoId, title } = video;
  try {
    return { videoId, title, ...(await exportVideo(video, folder, context)) };
  } catch (error) {
    return { videoId, title, bytes: 0, warnings: [], error: inOneLine(error) };
  }
}

/** The folders of earlier runs: a video keeps its folder when its title changes. */
async function foldersById(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => {
        const id = idInFolderName(name);
        return id === undefined ? [] : [[id, name] as const];
      }),
  );
}

/** Writes the descriptions of all exported videos into one file, one at a time: there may be many. */
async function writeLibrary(folder: string, workspaceId: string): Promise<void> {
  const path = join(folder, LIBRARY_FILE);
  const names = [...(await foldersById(folder)).values()].sort();
  async function* text() {
    const head = {
      format: 'framelane-library',
      version: 1,
      workspaceId,
      exportedAt: new Date().toISOString(),
    };
    yield `${JSON.stringify(head).slice(0, -1)},"videos":[`;
    let separator = '\n';
    for (const name of names) {
      const video = await readJson(join(folder, name, EXPORTED_VIDEO_FILE));
      if (typeof video !== 'object') continue;
      yield `${separator}${JSON.stringify({ folder: name, ...video })}`;
      separator = ',\n';
    }
    yield '\n]}\n';
  }
  await pipeline(text, createWriteStream(`${path}.part`));
  await rename(`${path}.part`, path);
}
