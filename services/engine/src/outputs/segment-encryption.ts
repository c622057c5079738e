import { createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';
import { pipeline, type Readable } from 'node:stream';

/**
 * Encrypts a segment as HLS `METHOD=AES-128` (RFC 8216 §4.3.2.4, §5.2): AES-128-CBC with PKCS#7 padding. The initialization
 * vector is the media sequence number as a 128-bit big-endian number. An error of `segment` becomes an error of the result.
 */
export function encryptSegment(segment: Readable, key: Uint8Array, sequence: number): Readable {
  const cipher = createCipheriv('aes-128-cbc', key, initializationVector(sequence));
  // The reader of the cipher receives the errors.
  return pipeline(segment, cipher, () => {});
}

export function initializationVector(sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64BE(BigInt(sequence), 8);
  return vector;
}

/** Size of an encrypted segment: padded with 1 to 16 bytes to a multiple of 16. */
export function encryptedBytes(bytes: number): number {
  return bytes - (bytes % 16) + 16;
}

/** Decrypts a segment that `encryptSegment` has encrypted. */
export function segmentDecipher(key: Uint8Array, sequence: number): Decipheriv {
  return createDecipheriv('aes-128-cbc', key, initializationVector(sequence));
}
