import type { DownloadResult, DownloadWork } from '@framelane/contracts/outputs/download';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { downloadWork, notAvailable } from './download-work.ts';
import { findPreparing, findTrackNames, saveFailed, saveReady } from './downloads.store.ts';

/** The downloads that were asked for before a video became ready. Those that it has no rendition for fail. */
export async function wantedDownloads(trx: Database, { id, title }: VideoRow): Promise<DownloadWork[]> {
  const asked = await findPreparing(trx, id);
  if (asked.length === 0) return [];
  const tracks = await findTrackNames(trx, id);
  const works: DownloadWork[] = [];
  for (const name of asked) {
    const work = downloadWork(name, tracks, title);
    if (work !== undefined) works.push(work);
    else {
      const message = notAvailable(name, tracks);
      await saveFailed(trx, id, name, { code: 'rendition_not_available', message });
    }
  }
  return works;
}

/** Stores that a download is ready. Its artifact says the rest. */
export function addDownload(trx: Database, { id }: VideoRow, { name }: DownloadResult): Promise<void> {
  return saveReady(trx, id, name);
}

/** Stores that a download has failed. */
export function failDownload(trx: Database, { id }: VideoRow, { name }: DownloadWork): Promise<void> {
  // What the engine reports is about a video; the log has it.
  const message = 'The file could not be prepared. Ask for it again later.';
  return saveFailed(trx, id, name, { code: 'download_failed', message });
}
