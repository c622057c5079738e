import type { Video } from '@framelane/client';
import type { apiIn } from '../api/api.ts';
import { isGone } from '../api/problem.ts';
import { changeTags, forEachLeft, initialProgress } from './bulk.ts';
import { canImportAgain, importAgain } from './import-again.ts';

type Api = ReturnType<typeof apiIn>;

export type BulkAction = 'delete' | 'add' | 'remove' | 'retry';

/** What a bulk action has done that its own retry or an undo has to know. */
export type Made = {
  /** The tags that were really added to a video, or removed from it. */
  tags: { id: string; action: 'add' | 'remove'; tags: readonly string[] }[];
  /** The failed videos that were imported again, and may not be deleted yet. */
  imported: Set<string>;
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
      return async (video) => {
        if (!canImportAgain(video)) return api.videos.retry(video.id, PATIENT);
        // A repeat after a failed deletion does not import the file twice.
        if (!made.imported.has(video.id)) {
          // So that a repeat after a lost response, or in another tab, does not import the file twice, either.
          await api.videos.import(importAgain(video), {
            ...PATIENT,
            idempotencyKey: `import-again-${video.id}`,
          });
        }
        made.imported.add(video.id);
        return deleteVideo(api, video.id);
      };
    case 'add':
    case 'remove':
      return async ({ id }) => {
        const changed = await changeTagsOf(api, id, action, tags);
        if (changed.length > 0) made.tags.push({ id, action, tags: changed });
      };
  }
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
