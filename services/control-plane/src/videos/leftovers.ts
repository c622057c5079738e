import { attemptPrefix, hlsPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import type { VideoRow } from '../db/schema.ts';

/**
 * Which prefixes hold nothing but leftovers, judged by a row that may change while they are being removed. So only what
 * can never be of use again counts: everything of a video that is gone or was never uploaded, and otherwise the attempts
 * that are over. An attempt that begins later, after a retry of a failed video too, has a higher number.
 */
export function prefixesToPurge(
  workspaceId: string,
  videoId: string,
  row: Pick<VideoRow, 'status' | 'deleted_at' | 'attempt' | 'uploaded_at'> | undefined,
): string[] {
  const gone = row === undefined || row.deleted_at !== null;
  if (gone || (row.status === 'failed' && row.uploaded_at === null)) {
    return [sourcePrefix(workspaceId, videoId), hlsPrefix(workspaceId, videoId)];
  }
  const lastOver = row.status === 'failed' ? row.attempt : row.attempt - 1;
  return Array.from({ length: Math.max(0, lastOver) }, (_, index) =>
    attemptPrefix(workspaceId, videoId, index + 1),
  );
}

/** Whether a transfer may still bring the file of a video. */
export function takesUploads(row: Pick<VideoRow, 'status' | 'deleted_at'> | undefined): boolean {
  return row?.status === 'uploading' && row.deleted_at === null;
}

/**
 * The prefix of the transfer that stored `key` below `sources`, the prefix of a video's sources; null when that is the
 * one whose file was taken in as `source`, or when the object belongs to no transfer.
 */
export function prefixOfLostTransfer(sources: string, key: string, source: string): string | null {
  const prefix = key.slice(0, key.lastIndexOf('/') + 1);
  return prefix === sources || source.startsWith(prefix) ? null : prefix;
}
