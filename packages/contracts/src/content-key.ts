import { randomBytes } from 'node:crypto';
import type { SealingKeys } from './sealing.ts';

/** Length of an AES-128 key. */
const CONTENT_KEY_BYTES = 16;

/** A fresh random AES-128 key. */
export function newContentKey(): Buffer {
  return randomBytes(CONTENT_KEY_BYTES);
}

/** Opens a sealed content key. Throws if it was altered or if no configured secret opens it. */
export async function openContentKey(sealed: string, keys: SealingKeys): Promise<Buffer> {
  const key = await keys.open(sealed);
  if (key.byteLength !== CONTENT_KEY_BYTES) throw new Error('The sealed content key does not have 16 bytes');
  return key;
}
