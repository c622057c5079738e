import { setTimeout } from 'node:timers/promises';
import { TransferError } from './transfer-error.ts';

/** Waits; rejects as soon as `signal` aborts. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

export const pause: Pause = (ms, signal) => setTimeout(ms, undefined, { signal });

const MAX_FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;
/** A server that asks for a longer pause is asked again in a later run. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Repeats what fails for a temporary reason. Throws the last error, or the reason of `signal`. */
export async function retrying<T>(
  run: () => Promise<T>,
  { signal, pause: wait }: { signal: AbortSignal; pause: Pause },
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      signal.throwIfAborted();
      const ms = pauseBeforeRetry(error, failures);
      if (ms === undefined) throw error;
      await wait(ms, signal);
    }
  }
}

/** Milliseconds before the next attempt; undefined if the error is final. Half of a pause that nobody asked for is random. */
export function pauseBeforeRetry(
  error: unknown,
  failures: number,
  random: () => number = Math.random,
): number | undefined {
  if (!(error instanceof TransferError) || !error.temporary || failures >= MAX_FAILURES) return undefined;
  const { retryAfterMs } = error;
  if (retryAfterMs === undefined) return FIRST_PAUSE_MS * 2 ** (failures - 1) * (0.5 + random() / 2);
  return retryAfterMs <= LONGEST_PAUSE_MS ? retryAfterMs : undefined;
}
