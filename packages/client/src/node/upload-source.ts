import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** The path of a file; a Blob or File; or a stream of bytes, e.g. a Readable or the body of a Response. */
export type UploadSource = string | Blob | AsyncIterable<Uint8Array>;

/** Bytes to read and send at a time. */
export const PIECE_BYTES = 256 * 1024;

/** Its name without directories, if it has one. */
export function nameOf(source: UploadSource): string | undefined {
  if (typeof source === 'string') return basename(source);
  return source instanceof File ? source.name : undefined;
}

/** Its size in bytes; null for a stream. Rejects if the file does not exist. */
export async function sizeOf(source: UploadSource): Promise<number | null> {
  if (typeof source === 'string') return (await stat(source)).size;
  return source instanceof Blob ? source.size : null;
}

/** When it was last modified, Unix time in milliseconds, if it is a file. */
export async function modifiedOf(source: UploadSource): Promise<number | undefined> {
  if (typeof source === 'string') return (await stat(source)).mtimeMs;
  return source instanceof File ? source.lastModified : undefined;
}

/** Its bytes from `start`, up to `size` if the file grows during the upload. A stream is read from where it is. */
export function bytesOf(source: UploadSource, size: number | null, start = 0): Readable {
  const bytes = open(source, size, start);
  // The reader gets the error, also if it happens before reading starts.
  bytes.on('error', () => {});
  return bytes;
}

function open(source: UploadSource, size: number | null, start: number): Readable {
  if (size === 0) return Readable.from([]);
  if (typeof source === 'string') {
    return createReadStream(source, {
      highWaterMark: PIECE_BYTES,
      start,
      ...(size !== null && { end: size - 1 }),
    });
  }
  if (source instanceof Blob) return Readable.fromWeb(source.slice(start).stream() as ReadableStream);
  return source instanceof Readable ? source : Readable.from(source, { objectMode: false });
}
