import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import type { ObjectStore } from '@framelane/object-store/object-store';

const NEVER = new AbortController().signal;

/** A file of the backup cannot be read, or is not as it was written. */
export class DamagedBackupError extends Error {
  override name = 'DamagedBackupError';
  constructor(key: string, cause?: unknown) {
    super(`${key} is damaged.`, { cause });
  }
}

/** Writes lines as a gzip file, and resolves with its hash. */
export async function writeLines(
  store: ObjectStore,
  key: string,
  lines: AsyncIterable<string>,
): Promise<{ sha256: string; lines: number }> {
  const hash = createHash('sha256');
  let count = 0;
  const terminated = async function* () {
    for await (const line of lines) {
      count += 1;
      yield `${line}\n`;
    }
  };
  const gzip = createGzip();
  // Destroys both streams if one fails. The reader of the second one gets the error.
  pipeline(Readable.from(terminated()), gzip, () => {});
  await store.putStream(key, hashed(gzip, hash), { contentType: 'application/gzip', signal: NEVER });
  return { sha256: hash.digest('hex'), lines: count };
}

/** The lines that `writeLines` has written. Throws a DamagedBackupError, with a hash at the end if the file has another one. */
export async function* readLines(
  store: ObjectStore,
  key: string,
  sha256?: string,
): AsyncGenerator<string, void> {
  const hash = createHash('sha256');
  const { body } = await store.get(key).catch((error: unknown) => {
    throw new DamagedBackupError(key, error);
  });
  const gunzip = createGunzip();
  pipeline(hashed(body, hash), gunzip, () => {});
  try {
    yield* linesOf(gunzip);
  } catch (error) {
    throw new DamagedBackupError(key, error);
  }
  if (sha256 !== undefined && hash.digest('hex') !== sha256) throw new DamagedBackupError(key);
}

/** The stream, whose bytes are added to `hash` as they are read. It fails if `atEnd` throws, so that nobody takes it for complete. */
export function hashed(body: Readable, hash: Hash, atEnd = () => {}): Readable {
  const bytes = async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
    atEnd();
  };
  // If nobody reads the stream, the generator never begins, and would never close the body.
  return Readable.from(bytes(), { objectMode: false }).once('close', () => body.destroy());
}

async function* linesOf(text: Readable): AsyncGenerator<string, void> {
  let unfinished = '';
  for await (const chunk of text.setEncoding('utf8')) {
    const [first = '', ...others] = String(chunk).split('\n');
    unfinished += first;
    for (const line of others) {
      yield unfinished;
      unfinished = line;
    }
  }
  if (unfinished !== '') throw new Error('The last line is incomplete');
}
