import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredObject } from './object-store.ts';

/** A connection that brings less than this is as good as one that fails. */
const PROGRESS_BYTES = 1024 ** 2;
/** So many of those in a row are the end. */
const MOST_FAILURES = 3;
const RETRY_DELAY_MS = 500;

/**
 * The bytes of an object that was opened. A connection that breaks is followed by one that goes on from there (`reopen` with
 * the first byte missing); it has to find the same object. The stream fails when several connections in a row bring next to
 * nothing, or when the end is not where it should be.
 */
export function readThrough(
  first: StoredObject,
  reopen: (start: number) => Promise<StoredObject>,
  signal: AbortSignal,
): Readable {
  return Readable.from(pieces(first, reopen, signal), { objectMode: false });
}

async function* pieces(
  first: StoredObject,
  reopen: (start: number) => Promise<StoredObject>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let read = 0;
  let failures = 0;
  let open = async () => first;
  for (;;) {
    const start = read;
    try {
      const { body } = await open();
      for await (const piece of body as AsyncIterable<Buffer>) {
        read += piece.byteLength;
        yield piece;
      }
      if (read === first.bytes) return;
      throw new Error(`The connection ended after ${read} of ${first.bytes} bytes`);
    } catch (error) {
      signal.throwIfAborted();
      failures = read - start < PROGRESS_BYTES ? failures + 1 : 0;
      if (failures >= MOST_FAILURES || read >= first.bytes || isChanged(error)) throw error;
      await delay(RETRY_DELAY_MS, undefined, { signal });
      open = () => reopen(read);
    }
  }
}

/** The object is another one by now, or gone. */
function isChanged(error: unknown): boolean {
  return error instanceof Error && ['PreconditionFailed', 'ObjectNotFoundError'].includes(error.name);
}
