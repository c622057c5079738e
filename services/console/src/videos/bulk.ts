/** The progress of a bulk action. Every item is in exactly one of the lists. */
export type Progress<Item> = {
  done: readonly Item[];
  failed: readonly { item: Item; error: unknown }[];
  /** Not begun, or in progress. After a stop: not begun. */
  left: readonly Item[];
};

/** Requests at the same time. A browser has six connections to an origin over HTTP/1.1, and uploads need some. */
const AT_ONCE = 3;

/** Before the first item. */
export function initialProgress<Item>(items: readonly Item[]): Progress<Item> {
  return { done: [], failed: [], left: items };
}

/** The progress before a retry of the failed items and of those not started. */
export function retryProgress<Item>({ done, failed, left }: Progress<Item>): Progress<Item> {
  return { done, failed: [], left: [...failed.map(({ item }) => item), ...left] };
}

/**
 * Performs a task for each item that is left, a few at a time. A failure does not stop the others. `onProgress` is called after each.
 * Resolves with the last progress when all have ended; after an abort of `signal`, when those in progress have.
 */
export async function forEachLeft<Item>(
  start: Progress<Item>,
  task: (item: Item) => Promise<unknown>,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: Progress<Item>) => void },
): Promise<Progress<Item>> {
  let progress = start;
  const settle = (item: Item, changed: Partial<Progress<Item>>) => {
    progress = { ...progress, ...changed, left: progress.left.filter((each) => each !== item) };
    onProgress(progress);
  };
  const waiting = start.left.values();
  const work = async () => {
    for (const item of waiting) {
      // It stays in `left`.
      if (signal.aborted) return;
      try {
        await task(item);
        settle(item, { done: [...progress.done, item] });
      } catch (error) {
        settle(item, { failed: [...progress.failed, { item, error }] });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return progress;
}

/** Tags as somebody types them, separated by commas; without empty and repeated ones. */
export function readTags(typed: string): string[] {
  return [...new Set(typed.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

/** The tags of a video after the change; undefined if it changes nothing. */
export function changeTags(
  tags: readonly string[],
  action: 'add' | 'remove',
  changed: readonly string[],
): string[] | undefined {
  const rest = tags.filter((tag) => !changed.includes(tag));
  if (action === 'remove') return rest.length === tags.length ? undefined : rest;
  const added = changed.filter((tag) => !tags.includes(tag));
  return added.length === 0 ? undefined : [...tags, ...added];
}
