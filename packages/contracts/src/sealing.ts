import { hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** A secret that seals others: exactly 32 bytes. */
export type SealingSecret = Uint8Array;

/** Seals a secret as a compact JWE (`dir`, `A256GCM`), the only form in which one rests or travels. */
export async function seal(plaintext: Uint8Array, secret: SealingSecret): Promise<string> {
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(secret);
}

/** Opens what was sealed. Throws when it was sealed with another secret or altered. */
export async function unseal(sealed: string, secret: SealingSecret): Promise<Buffer> {
  const { plaintext } = await compactDecrypt(sealed, secret, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  return Buffer.from(plaintext);
}

/** The sealing secret for one purpose, made from another (HKDF-SHA-256, RFC 5869): what is sealed for one purpose opens for no other. */
export function deriveSealingSecret(secret: SealingSecret, purpose: string): SealingSecret {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}
