import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { pause } from '../pause.ts';
import { outOfDiskSpace, storageFailure } from '../transcode-failure.ts';

/** Delays before the second and the third request. */
const RETRY_DELAYS_MS = [500, 2000];

/** Error codes of a full disk. */
const DISK_FULL = ['ENOSPC', 'EDQUOT'];

/**
 * Runs a request to the object store up to three times, but only once if the disk is full or the object does not exist. Rejects with a TranscodeFailure,
 * or with the reason of the signal.
 *
 * The S3 client retries a broken connection itself, within each of these requests. The retries here bridge an outage of some
 * seconds, which would otherwise cost the whole run of ffmpeg. Not p-retry: it does not retry a TypeError, such as that of a client
 * that cannot read a broken response.
 */
export async function withStorageRetries<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (isDiskFull(error)) throw outOfDiskSpace(error);
      const delayMs = RETRY_DELAYS_MS[retries];
      if (delayMs === undefined || error instanceof ObjectNotFoundError) throw storageFailure(error);
      await pause(delayMs, signal);
    }
  }
}

/** Whether a write failed because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.includes((error as NodeJS.ErrnoException).code ?? '');
}
