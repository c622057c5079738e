import { attemptPrefix, hlsPrefix, sourcePrefix } from '@framelane/object-store/object-keys';
import type { VideoRow } from '../db/schema.ts';

/**
 * The prefixes below which an object is orphaned unless an artifact of the video has it. The row may change during the purge, so only prefixes
 * count whose objects can get no new artifact: everything of a deleted video; of other videos, the ended attempts, and the sources once a
 * transfer is registered or none can be. A later attempt has a higher number, also after a retry.
 */
export function closedPrefixes(
  video: Pick<VideoRow, 'id' | 'workspace_id' | 'status' | 'deleted_at' | 'attempt'>,
): string[] {
  const { id, workspace_id: workspaceId, status, attempt } = video;
  const sources = sourcePrefix(workspaceId, id);
  if (video.deleted_at !== null) return [sources, hlsPrefix(workspaceId, id)];
  const lastEnded = status === 'failed' || status === 'ready' ? attempt : attempt - 1;
  const attempts = Array.from({ length: Math.max(0, lastEnded) }, (_, index) =>
    attemptPrefix(workspaceId, id, index + 1),
  );
  return acceptsUploads(video) ? attempts : [sources, ...attempts];
}

/** Whether a transfer may still register a file for the video. */
export function acceptsUploads(video: Pick<VideoRow, 'status' | 'deleted_at'>): boolean {
  return video.status === 'uploading' && video.deleted_at === null;
}

/** The prefix of an object: its key up to the last slash. */
export function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Whether objects with this prefix are orphaned: they are below none of the prefixes that are kept, and none of these is below theirs. */
export function isOrphaned(prefix: string, kept: readonly string[]): boolean {
  return !kept.some((each) => prefix.startsWith(each) || each.startsWith(prefix));
}
