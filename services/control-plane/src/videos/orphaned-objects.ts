import { attemptPrefix, hlsPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import type { VideoRow } from '../db/schema.ts';

/**
 * The prefixes below which every object of a video is orphaned. The row may change during the purge, so only what can never be
 * used again counts: everything of a video that is deleted, or failed without an upload; of other videos, the objects of ended
 * attempts, and the sources if the row says that they are deleted. A later attempt has a higher number, also after a retry.
 */
export function prefixesToPurge(
  video: Pick<
    VideoRow,
    'id' | 'workspace_id' | 'status' | 'deleted_at' | 'attempt' | 'uploaded_at' | 'source_deleted_at'
  >,
): string[] {
  const { id, workspace_id: workspaceId, status, attempt } = video;
  if (video.deleted_at !== null || (status === 'failed' && video.uploaded_at === null)) {
    return [sourcePrefix(workspaceId, id), hlsPrefix(workspaceId, id)];
  }
  const lastEnded = status === 'failed' ? attempt : attempt - 1;
  const ofAttempts = Array.from({ length: Math.max(0, lastEnded) }, (_, index) =>
    attemptPrefix(workspaceId, id, index + 1),
  );
  return video.source_deleted_at === null ? ofAttempts : [sourcePrefix(workspaceId, id), ...ofAttempts];
}

/** Whether a transfer may still register a file for the video. */
export function acceptsUploads(video: Pick<VideoRow, 'status' | 'deleted_at'>): boolean {
  return video.status === 'uploading' && video.deleted_at === null;
}

/** The prefix of an object: its key up to the last slash. */
export function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/**
 * The prefix of the transfer that stored the object `key` of a video. Null when that transfer stored the registered file `source`, and
 * when the object belongs to no transfer.
 */
export function prefixOfLostTransfer(key: string, source: string): string | null {
  const prefix = prefixOf(key);
  return source.startsWith(prefix) ? null : prefix;
}

/**
 * The prefix of the try of a task that stored an object. Null if the video refers to this try, or if no task stored the object.
 *
 * @param output the prefix of the attempt, which is complete
 * @param key the key of the object, below `output`
 * @param folders the folders of the tries that the video refers to
 */
export function prefixOfLostTry(output: string, key: string, folders: ReadonlySet<string>): string | null {
  const folder = /^t\d+\.\d+\//.exec(key.slice(output.length))?.[0];
  return folder === undefined || folders.has(folder) ? null : `${output}${folder}`;
}
