import pRetry from 'p-retry';
import { outOfDiskSpace, storageFailure } from '../transcode-failure.ts';

/** A request is sent again after 0.5 and 2 seconds. */
const RETRIES = { retries: 2, minTimeout: 500, factor: 4 };

/** Error codes of a full disk. */
const DISK_FULL = ['ENOSPC', 'EDQUOT'];

/**
 * Runs a request to the object store up to three times, but only once if the disk is full. Rejects with a TranscodeFailure,
 * or with the reason of the signal. A failure costs the whole run of ffmpeg, so this bridges an outage of some seconds, also for a store
 * of files. The attempts of the S3 client, in each of these, bridge a connection that breaks.
 */
export async function withStorageRetries<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await pRetry(request, { ...RETRIES, signal, shouldRetry: ({ error }) => !isDiskFull(error) });
  } catch (error) {
    signal.throwIfAborted();
    throw isDiskFull(error) ? outOfDiskSpace(error) : storageFailure(error);
  }
}

function isDiskFull(error: unknown): boolean {
  return DISK_FULL.includes((error as NodeJS.ErrnoException).code ?? '');
}
