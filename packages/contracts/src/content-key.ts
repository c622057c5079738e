import { randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** AES-128: sixteen bytes. */
const CONTENT_KEY_BYTES = 16;

/** The secret that seals content keys: exactly 32 bytes, from `CONTENT_KEY_SECRET`. */
export type SealingSecret = Uint8Array;

/** A fresh random AES-128 key. */
export function newContentKey(): Buffer {
  return randomBytes(CONTENT_KEY_BYTES);
}

/** Seals a content key as a compact JWE (`dir`, `A256GCM`), the only form in which it rests or travels. */
export async function sealContentKey(key: Uint8Array, secret: SealingSecret): Promise<string> {
  return new CompactEncrypt(key).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(secret);
}

/** Opens a sealed content key. Throws when it was sealed with another secret or altered. */
export async function openContentKey(sealed: string, secret: SealingSecret): Promise<Buffer> {
  const { plaintext } = await compactDecrypt(sealed, secret, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  if (plaintext.byteLength !== CONTENT_KEY_BYTES)
    throw new Error('The sealed content key has a wrong length');
  return Buffer.from(plaintext);
}
