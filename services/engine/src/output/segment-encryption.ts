import { createCipheriv } from 'node:crypto';
import { pipeline, type Readable } from 'node:stream';

/**
 * Encrypts a whole segment as HLS `METHOD=AES-128` (RFC 8216 §4.3.2.4, §5.2): AES-128-CBC with PKCS#7 padding, the
 * initialisation vector being the media sequence number as a 128-bit big-endian number. An error of `segment` becomes
 * an error of the result.
 */
export function encryptSegment(segment: Readable, key: Uint8Array, sequence: number): Readable {
  const cipher = createCipheriv('aes-128-cbc', key, initialisationVector(sequence));
  // Errors reach the reader of the cipher; there is nobody else to tell.
  return pipeline(segment, cipher, () => {});
}

export function initialisationVector(sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64BE(BigInt(sequence), 8);
  return vector;
}

/** Size of a segment once it is encrypted: padded to whole blocks, with one to sixteen bytes. */
export function encryptedBytes(bytes: number): number {
  return bytes - (bytes % 16) + 16;
}
