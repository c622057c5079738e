import type { Database } from '../db/database.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { addUnpurged } from './ended-transfers.store.ts';
import type { ResumableUploadRow } from './resumable-uploads.store.ts';

/** The bytes that a resumable upload may have stored. One without a checkpoint has stored nothing. */
export function storedAtMost(upload: Pick<ResumableUploadRow, 'checkpoint' | 'length'> | undefined): number {
  return upload?.checkpoint ? upload.length : 0;
}

/**
 * Makes a purge due of what ended transfers of a video have stored. It begins within a second. Until its first pass has ended,
 * `bytes` count against the quota. Call it in the transaction that ends the transfers, with the video held and its ticket locked.
 */
export async function requestPurgeOfTransfers(
  trx: Database,
  lifecycle: VideoLifecycle,
  videoId: string,
  bytes: number,
): Promise<void> {
  if (bytes > 0) await addUnpurged(trx, videoId, bytes);
  await lifecycle.requestPurge(trx, videoId);
}
