import { randomBytes } from 'node:crypto';
import { type SealingSecret, seal, unseal } from './sealing.ts';

/** AES-128: sixteen bytes. */
const CONTENT_KEY_BYTES = 16;

/** A fresh random AES-128 key. */
export function newContentKey(): Buffer {
  return randomBytes(CONTENT_KEY_BYTES);
}

/** Seals a content key with the secret from `CONTENT_KEY_SECRET`. */
export async function sealContentKey(key: Uint8Array, secret: SealingSecret): Promise<string> {
  return seal(key, secret);
}

/** Opens a sealed content key. Throws when it was sealed with another secret or altered. */
export async function openContentKey(sealed: string, secret: SealingSecret): Promise<Buffer> {
  const key = await unseal(sealed, secret);
  if (key.byteLength !== CONTENT_KEY_BYTES) throw new Error('The sealed content key has a wrong length');
  return key;
}
