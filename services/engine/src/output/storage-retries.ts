import { setTimeout as delay } from 'node:timers/promises';
import { outOfDiskSpace, storageFailure } from '../transcode-failure.ts';

/** Waits between the tries. */
const RETRY_DELAYS_MS = [500, 2000];

/** What a full disk of the engine says, which no connection does. */
const DISK_FULL = ['ENOSPC', 'EDQUOT'];

/** Asks the storage for something up to three times; once on a disk that is full. Rejects with a TranscodeFailure, or the signal's reason when aborted. */
export async function withStorageRetries<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (DISK_FULL.includes((error as NodeJS.ErrnoException).code ?? '')) throw outOfDiskSpace(error);
      const delayMs = RETRY_DELAYS_MS[tries];
      if (delayMs === undefined) throw storageFailure(error);
      await delay(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
