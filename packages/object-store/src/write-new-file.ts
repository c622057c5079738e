import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inFolder } from './in-folder.ts';

/** Writes a stream into an existing file, and reports each position up to which it has been written. Destroys `body`. */
export async function writeInto(
  body: Readable,
  path: string,
  { start, signal, onWritten }: { start: number; signal: AbortSignal; onWritten: (position: number) => void },
): Promise<void> {
  body.once('error', () => {});
  try {
    const file = await open(path, 'r+');
    try {
      let position = start;
      for await (const chunk of addAbortSignal(signal, body) as AsyncIterable<Buffer>) {
        for (let done = 0; done < chunk.byteLength; ) {
          const { bytesWritten } = await file.write(chunk, done, null, position);
          done += bytesWritten;
          position += bytesWritten;
        }
        onWritten(position);
      }
    } finally {
      await file.close();
    }
  } finally {
    body.destroy();
  }
}

/**
 * Writes a stream to a file that must not exist, and creates its folder where needed. With `flush` it waits until the
 * bytes are on disk. Resolves with their number. When the stream fails or `signal` aborts, it removes the file and rejects.
 * `body` is always consumed or destroyed.
 */
export async function writeNewFile(
  body: Readable,
  path: string,
  options: { signal?: AbortSignal; flush?: boolean },
): Promise<number> {
  // Until pipeline listens, an error of the stream would be an uncaught exception. Pipeline reports it later.
  body.once('error', () => {});
  try {
    const file = await inFolder(dirname(path), () => open(path, 'wx'));
    try {
      const { flush = false, ...rest } = options;
      const written = file.createWriteStream({ flush });
      await pipeline(body, written, rest);
      return written.bytesWritten;
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  } finally {
    body.destroy();
  }
}
