import { createDecipheriv, type Decipheriv } from 'node:crypto';
import { initializationVector } from './segment-encryption.ts';

/** Decrypts a segment that `encryptSegment` has encrypted. */
export function segmentDecipher(key: Uint8Array, sequence: number): Decipheriv {
  return createDecipheriv('aes-128-cbc', key, initializationVector(sequence));
}
