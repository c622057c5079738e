import { setTimeout as delay } from 'node:timers/promises';
import { storageFailure } from './transcode-failure.ts';

/** Waits between the tries to store something. */
const RETRY_DELAYS_MS = [500, 2000];

/** Tries to store something a few times. Rejects with a TranscodeFailure, or the signal's reason when aborted. */
export async function storeWithRetries<T>(store: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await store();
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = RETRY_DELAYS_MS[tries];
      if (delayMs === undefined) throw storageFailure(error);
      await delay(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
