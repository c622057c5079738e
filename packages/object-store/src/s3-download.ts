import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteRange, StoredObject } from './object-store.ts';
import { DOWNLOAD_RETRIES } from './s3-retries.ts';

/**
 * Reads a range of an object. `first` is the object, opened at the start of the range. When its connection breaks, `reopen` opens the object
 * again at the first missing byte; it must reject if the object has changed. DOWNLOAD_RETRIES limits how often. A body that ends too early
 * counts as a broken connection. The stream fails if it gets more bytes than the range has.
 */
export function readContinuously(
  first: StoredObject,
  reopen: (start: number) => Promise<StoredObject>,
  range: ByteRange,
  signal: AbortSignal,
): Readable {
  return Readable.from(chunks(first, reopen, range, signal), { objectMode: false });
}

async function* chunks(
  first: StoredObject,
  reopen: (start: number) => Promise<StoredObject>,
  range: ByteRange,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { failuresInARow, progressBytes, delayMs } = DOWNLOAD_RETRIES;
  const end = range.end + 1;
  let read = range.start;
  let failures = 0;
  let open = async () => first;
  for (;;) {
    const start = read;
    try {
      const { body } = await open();
      for await (const chunk of body as AsyncIterable<Buffer>) {
        read += chunk.byteLength;
        yield chunk;
      }
      if (read === end) return;
      throw new Error(`The connection ended at byte ${read} instead of ${end}`);
    } catch (error) {
      signal.throwIfAborted();
      failures = read - start < progressBytes ? failures + 1 : 0;
      if (failures >= failuresInARow || read >= end || isChanged(error)) throw error;
      await delay(delayMs, undefined, { signal });
      open = () => reopen(read);
    }
  }
}

/** The object was replaced or deleted. */
function isChanged(error: unknown): boolean {
  return error instanceof Error && ['PreconditionFailed', 'ObjectNotFoundError'].includes(error.name);
}
