import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import {
  ObjectNotFoundError,
  type ObjectStore,
  type StoredObject,
} from '@framelane/object-store/object-store';
import { SymbolicLinkError } from '@framelane/object-store/symbolic-links';
import { DamagedBackupError } from './backup-errors.ts';
import { hashed } from './compressed-lines.ts';

const NEVER = new AbortController().signal;

/** Tries of one copy, and the pause before the second one; it doubles. */
const TRIES = 3;
const PAUSE_MS = 500;

/** What is known of an object before it is copied. With `sha256`, a copy with other bytes fails and is not stored. */
type Expected = { bytes: number; sha256?: string };

/**
 * Copies an object, and resolves with its SHA-256; null if there is no such object of this size. Repeats a copy whose connection breaks. Throws a
 * DamagedBackupError if the object has another hash.
 */
export async function copyObject(
  open: () => Promise<StoredObject>,
  expected: Expected,
  target: { store: ObjectStore; key: string },
): Promise<string | null> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await copyOnce(open, expected, target);
    } catch (error) {
      if (error instanceof ObjectNotFoundError) return null;
      if (failures + 1 === TRIES || !isTemporary(error)) throw error;
      await delay(PAUSE_MS * 2 ** failures);
    }
  }
}

async function copyOnce(
  open: () => Promise<StoredObject>,
  { bytes, sha256 }: Expected,
  { store, key }: { store: ObjectStore; key: string },
): Promise<string | null> {
  const { body, ...info } = await open();
  if (info.bytes !== bytes) {
    body.destroy();
    return null;
  }
  const hash = createHash('sha256');
  let found = '';
  const checked = hashed(body, hash, () => {
    found = hash.digest('hex');
    if (sha256 !== undefined && found !== sha256) throw new DamagedBackupError(key);
  });
  await store.putStream(key, checked, { contentType: contentTypeOf(key), signal: NEVER });
  return found;
}

/** The SHA-256 of an object; undefined if it does not exist. */
export async function hashOfObject(open: () => Promise<StoredObject>): Promise<string | undefined> {
  try {
    const { body } = await open();
    const hash = createHash('sha256');
    await finished(hashed(body, hash).resume());
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  }
}

/** The content types of all objects, by their extensions. Object stores of files have none. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(PACKAGINGS).map((each) => [each.extension, each.contentType])),
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  mp4: 'video/mp4',
  m4a: 'audio/mp4',
};

function contentTypeOf(key: string): string {
  return CONTENT_TYPES[extname(key).slice(1)] ?? 'application/octet-stream';
}

/** A full disk stays full, a damaged file damaged, and a link a link. */
function isTemporary(error: unknown): boolean {
  if (error instanceof DamagedBackupError || error instanceof SymbolicLinkError) return false;
  return !['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');
}
