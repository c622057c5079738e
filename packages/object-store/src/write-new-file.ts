import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a stream into a file that must not exist yet, making its folder where needed; `flush` waits until the bytes
 * are on disk. When the stream fails or `signal` aborts, the file is removed again and the promise rejects. `body` is
 * used up or destroyed in every case.
 */
export async function writeNewFile(
  body: Readable,
  path: string,
  options: { signal?: AbortSignal; flush?: boolean },
): Promise<void> {
  // Until pipeline listens, a failing stream would be an uncaught exception; pipeline reports it later.
  body.once('error', () => {});
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'wx');
    try {
      const { flush = false, ...rest } = options;
      await pipeline(body, file.createWriteStream({ flush }), rest);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  } finally {
    body.destroy();
  }
}
