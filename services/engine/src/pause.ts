import { setTimeout as delay } from 'node:timers/promises';

/** Waits. Rejects with the reason of the signal as soon as it aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
