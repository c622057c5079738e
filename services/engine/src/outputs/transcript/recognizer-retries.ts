import { pause } from '../../pause.ts';
import type { Recognizer } from '../../recognizers/recognizer.ts';
import { RecognizerFailure } from '../../recognizers/recognizer-failure.ts';
import { TranscodeFailure } from '../../transcode-failure.ts';

/** The longest pause that a recogniser may ask for, in seconds. A longer one ends the try, and another one comes later. */
const MAX_PAUSE_SECONDS = 120;

/**
 * Repeats a request that failed at once: a recogniser that restarts or limits the rate of requests must not cost the work on all parts before. One that
 * takes too long is not repeated here. Throws the last failure, or the reason of the signal.
 */
export async function withRetries<T>(
  { retryDelaysMs }: Pick<Recognizer, 'retryDelaysMs'>,
  signal: AbortSignal,
  request: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = delayAfter(error, retryDelaysMs[retries]);
      if (delayMs === undefined) throw error;
      await pause(delayMs, signal);
    }
  }
}

/** The pause before the next request, in milliseconds; undefined if there is none. */
export function delayAfter(error: unknown, usualMs: number | undefined): number | undefined {
  const mayRepeat =
    error instanceof TranscodeFailure && error.retryable && error.code !== 'transcode_timeout';
  if (!mayRepeat || usualMs === undefined) return undefined;
  const asked = error instanceof RecognizerFailure ? error.retryAfterSeconds : 0;
  return asked > MAX_PAUSE_SECONDS ? undefined : Math.max(usualMs, asked * 1000);
}
