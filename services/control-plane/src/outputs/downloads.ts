import type { DownloadName, DownloadResult, DownloadWork } from '@framelane/contracts/outputs/download';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { type DerivationFailure, NO_DISK_SPACE } from './derivation-failure.ts';
import { downloadWork, notAvailable } from './download-work.ts';
import {
  type DownloadFailure,
  findChapterStarts,
  findPreparing,
  findStatuses,
  findTrackNames,
  saveFailed,
  savePreparing,
  saveReady,
} from './downloads.store.ts';

const NO_ROOM = {
  code: 'quota_exceeded',
  message: 'The workspace may not store that many bytes. Delete videos, then ask for the file again.',
} as const;

/** What reports the end of downloads. */
export type DownloadDeps = {
  lifecycle: { recordEndOfDownloads(trx: Database, video: VideoRow, name: DownloadName): Promise<void> };
};

/** A download that a video has no rendition for. The message is for its owner. */
type Impossible = { name: DownloadName; message: string };

/** Stores that a client asks for downloads. Those that failed before are prepared again. Resolves with those that do not exist and are not being prepared. */
export async function askForDownloads(
  trx: Database,
  videoId: string,
  names: readonly DownloadName[],
): Promise<DownloadName[]> {
  if (names.length === 0) return [];
  const statuses = await findStatuses(trx, videoId);
  const missing = names.filter((name) => (statuses.get(name) ?? 'failed') === 'failed');
  await savePreparing(trx, videoId, missing);
  return missing;
}

/** The work that makes downloads of a ready video, and those that it has no rendition for. */
export async function planDownloads(
  trx: Database,
  { id, title }: VideoRow,
  names: readonly DownloadName[],
): Promise<{ works: DownloadWork[]; impossible: Impossible[] }> {
  const tracks = await findTrackNames(trx, id);
  const inside = { title, chapters: await findChapterStarts(trx, id) };
  const works: DownloadWork[] = [];
  const impossible: Impossible[] = [];
  for (const name of names) {
    const work = downloadWork(name, tracks, inside);
    if (work !== undefined) works.push(work);
    else impossible.push({ name, message: notAvailable(name, tracks) });
  }
  return { works, impossible };
}

/**
 * The downloads that were asked for before a video became ready. Those that it has no rendition for fail, and so do those that the workspace has
 * no room for.
 */
export async function wantedDownloads(
  trx: Database,
  video: VideoRow,
  hasRoomFor: (works: readonly DownloadWork[]) => Promise<boolean>,
  deps: DownloadDeps,
): Promise<DownloadWork[]> {
  const names = await findPreparing(trx, video.id);
  if (names.length === 0) return [];
  const { works, impossible } = await planDownloads(trx, video, names);
  for (const { name, message } of impossible)
    await fail(trx, video, name, { code: 'rendition_not_available', message }, deps);
  const wanted: DownloadWork[] = [];
  for (const work of works) {
    if (await hasRoomFor([...wanted, work])) wanted.push(work);
    else await fail(trx, video, work.name, NO_ROOM, deps);
  }
  return wanted;
}

/** Stores that a download is ready. Its artifact says the rest. */
export async function addDownload(
  trx: Database,
  video: VideoRow,
  { name }: DownloadResult,
  deps: DownloadDeps,
): Promise<void> {
  if (await saveReady(trx, video.id, name)) await deps.lifecycle.recordEndOfDownloads(trx, video, name);
}

/** Stores that a download has failed. */
export function failDownload(
  trx: Database,
  video: VideoRow,
  { name }: DownloadWork,
  { code }: DerivationFailure,
  deps: DownloadDeps,
): Promise<void> {
  return fail(trx, video, name, code === NO_DISK_SPACE.code ? TOO_LARGE : FAILED, deps);
}

// What the engine reports is about a video; the log has it.
const FAILED = {
  code: 'download_failed',
  message: 'The file could not be prepared. Ask for it again later.',
} as const;
const TOO_LARGE = {
  code: 'no_disk_space',
  message:
    'The file has waited for a day, and the disk of an engine has no room for it. Ask for a smaller file, or tell the operator.',
} as const;

async function fail(
  trx: Database,
  video: VideoRow,
  name: DownloadName,
  error: DownloadFailure,
  deps: DownloadDeps,
): Promise<void> {
  if (await saveFailed(trx, video.id, name, error))
    await deps.lifecycle.recordEndOfDownloads(trx, video, name);
}
