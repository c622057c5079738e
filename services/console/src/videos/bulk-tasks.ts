import type { Video } from '@framelane/client';
import type { apiIn } from '../api/api.ts';
import { isGone } from '../api/problem.ts';
import { changeTags, forEachLeft, initialProgress } from './bulk.ts';
import { canImportAgain, importAgain } from './import-again.ts';

type Api = ReturnType<typeof apiIn>;

export type BulkAction = 'delete' | 'add' | 'remove' | 'retry';

/** What a bulk action has done that an undo has to know. */
export type Made = {
  /** The tags that were really added to a video, or removed from it. */
  tags: { id: string; action: 'add' | 'remove'; tags: readonly string[] }[];
};

/** With more retries than usual: the client waits for `Retry-After` when there are too many requests. */
const PATIENT = { retries: 6 };

/** Those of the videos that an action can change. The others stay as they are. */
export function changeable(action: BulkAction, videos: readonly Video[]): readonly Video[] {
  return action === 'retry' ? videos.filter(canRetry) : videos;
}

/** Whether a failed video can become ready without another upload: by its stored file, or by another import. */
export function canRetry(video: Video): boolean {
  return video.retryable || canImportAgain(video);
}

/** The requests for one video. `tags` are those to add or to remove. */
export function taskOf(
  api: Api,
  action: BulkAction,
  tags: readonly string[],
  made: Made,
): (video: Video) => Promise<unknown> {
  switch (action) {
    case 'delete':
      return ({ id }) => deleteVideo(api, id);
    case 'retry':
      return (video) =>
        canImportAgain(video) ? replaceByImport(api, video) : api.videos.retry(video.id, PATIENT);
    case 'add':
    case 'remove':
      return async ({ id }) => {
        const changed = await changeTagsOf(api, id, action, tags);
        if (changed.length > 0) made.tags.push({ id, action, tags: changed });
      };
  }
}

/** Imports the file of a failed import again, then deletes the failed video. Resolves with the id of the new one. */
export async function replaceByImport(api: Api, video: Video): Promise<string> {
  // Within a day, a repeat does not import the file twice: after a failed deletion, after a lost response, or in another tab. An edit since then
  // makes it another import.
  const idempotencyKey = `import-again-${video.id}-${Date.parse(video.updatedAt)}`;
  const { id } = await api.videos.import(importAgain(video), { ...PATIENT, idempotencyKey });
  await deleteVideo(api, video.id);
  return id;
}

/** Reverses changes of tags, and leaves those that somebody else has made meanwhile. Throws the first error after all have ended. */
export async function undoTags(api: Api, changes: Made['tags']): Promise<void> {
  const { failed } = await forEachLeft(
    initialProgress(changes),
    ({ id, action, tags }) => changeTagsOf(api, id, action === 'add' ? 'remove' : 'add', tags),
    { signal: new AbortController().signal, onProgress: () => {} },
  );
  if (failed[0] !== undefined) throw failed[0].error;
}

async function deleteVideo(api: Api, id: string): Promise<void> {
  try {
    await api.videos.delete(id, PATIENT);
  } catch (error) {
    // The video is already deleted: by somebody else, or by an earlier request whose response was lost.
    if (!isGone(error)) throw error;
  }
}

/** Changes the tags that a video has at that moment, not those of the list. Resolves with those that were added or removed. */
async function changeTagsOf(
  api: Api,
  id: string,
  action: 'add' | 'remove',
  tags: readonly string[],
): Promise<readonly string[]> {
  const before = (await api.videos.get(id, PATIENT)).tags;
  const after = changeTags(before, action, tags);
  if (after === undefined) return [];
  await api.videos.update(id, { tags: after }, PATIENT);
  return tags.filter((tag) => before.includes(tag) !== after.includes(tag));
}
