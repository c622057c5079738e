import { randomBytes } from 'node:crypto';
import type { SealingKeys } from './sealing.ts';

/** AES-128: sixteen bytes. */
const CONTENT_KEY_BYTES = 16;

/** A fresh random AES-128 key. */
export function newContentKey(): Buffer {
  return randomBytes(CONTENT_KEY_BYTES);
}

/** Opens a sealed content key. Throws when none of the secrets opens it, or it was altered. */
export async function openContentKey(sealed: string, keys: SealingKeys): Promise<Buffer> {
  const key = await keys.open(sealed);
  if (key.byteLength !== CONTENT_KEY_BYTES) throw new Error('The sealed content key has a wrong length');
  return key;
}
