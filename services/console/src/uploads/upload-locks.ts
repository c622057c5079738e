/**
 * Only one tab sends an upload. The browser releases the locks of a tab that is closed or loaded again. Web Locks exist only in a
 * secure context: https, or localhost.
 */
export const hasLocks = () => navigator.locks !== undefined;

const PREFIX = 'framelane upload ';

/** Locks an upload. Resolves with the function that unlocks it, or with undefined if another tab has locked it. */
export function lockUpload(videoId: string): Promise<(() => void) | undefined> {
  if (!hasLocks()) return Promise.resolve(() => {});
  const { promise: isDone, resolve: unlock } = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(PREFIX + videoId, { ifAvailable: true }, (lock) => {
        resolve(lock === null ? undefined : unlock);
        return lock === null ? undefined : isDone;
      })
      .catch(reject);
  });
}

/** The uploads that this tab or another one has locked. */
export async function lockedUploads(): Promise<Set<string>> {
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => (name?.startsWith(PREFIX) ? name.slice(PREFIX.length) : [])));
}
