import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** The path of a file; a Blob or File; or a stream of bytes, e.g. a Readable or the body of a Response. */
export type UploadSource = string | Blob | AsyncIterable<Uint8Array>;

/** What is read and sent at a time. */
export const PIECE_BYTES = 256 * 1024;

/** Its name without directories, if it has one. */
export function nameOf(source: UploadSource): string | undefined {
  if (typeof source === 'string') return basename(source);
  return source instanceof File ? source.name : undefined;
}

/** Bytes in it; null when only its end will tell. Rejects if there is no such file. */
export async function sizeOf(source: UploadSource): Promise<number | null> {
  if (typeof source === 'string') return (await stat(source)).size;
  return source instanceof Blob ? source.size : null;
}

/** Its bytes, but no more than `size` of a file that grows meanwhile. */
export function bytesOf(source: UploadSource, size: number | null): Readable {
  const bytes = open(source, size);
  // Whoever reads it is told of its failure, also of one before he reads; nobody else has to be.
  bytes.on('error', () => {});
  return bytes;
}

function open(source: UploadSource, size: number | null): Readable {
  if (typeof source === 'string') {
    return createReadStream(source, { highWaterMark: PIECE_BYTES, ...(size && { end: size - 1 }) });
  }
  if (source instanceof Blob) return Readable.fromWeb(source.stream() as ReadableStream);
  return source instanceof Readable ? source : Readable.from(source, { objectMode: false });
}
