import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { ObjectNotFoundError, type ObjectStore } from '@framelane/object-store/object-store';
import { DamagedBackupError } from './backup-errors.ts';

const NEVER = new AbortController().signal;

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
    throw error instanceof ObjectNotFoundError ? new DamagedBackupError(key, error) : error;
  });
  const gunzip = createGunzip();
  pipeline(hashed(body, hash), gunzip, () => {});
  try {
    yield* linesOf(gunzip);
  } catch (error) {
    throw isDamage(error) ? new DamagedBackupError(key, error) : error;
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
  if (unfinished !== '') throw new IncompleteLineError('The last line is incomplete');
}

class IncompleteLineError extends Error {}

/** Whether the bytes are wrong. All other errors, such as a lost connection, say nothing about them. */
function isDamage(error: unknown): boolean {
  if (error instanceof IncompleteLineError) return true;
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}
