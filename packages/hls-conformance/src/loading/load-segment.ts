import { createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { type SegmentContent, SegmentReader } from '../media/segment-reader.ts';
import { SYNC_BYTE } from '../media/transport-packets.ts';
import type { ListedSegment } from '../playlists/media-playlist.ts';
import type { Decryption, LoadedResponse, LoadedSegment } from '../presentation.ts';
import { failedResponse, responseOf } from './fetching.ts';
import { decodedBody, type HttpClient } from './http-client.ts';

/** The key of a segment, or why it cannot be used; null if the segment is not encrypted. */
export type SegmentKey = { bytes: Buffer } | { violation: string } | null;

/**
 * Fetches, decrypts and parses a segment as a stream, so that large segments need little memory. Failures are part of
 * the result.
 */
export async function loadSegment(
  client: HttpClient,
  listed: ListedSegment,
  key: SegmentKey,
): Promise<{ segment: LoadedSegment; response: LoadedResponse }> {
  try {
    const opened = await client.request(listed.url);
    const response = responseOf('segment', listed.url, opened);
    if (opened.status !== 200) {
      opened.body.resume();
      return { segment: notLoaded(listed), response };
    }
    const hash = createHash('sha256');
    let bytes = 0;
    opened.body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    const intake = new SegmentIntake(listed, key);
    for await (const chunk of decodedBody(opened)) intake.push(chunk as Buffer);
    const segment = { ...listed, bytes, sha256: hash.digest('hex'), ...intake.end() };
    return { segment, response: { ...response, bytes } };
  } catch (error) {
    return { segment: notLoaded(listed), response: failedResponse('segment', listed.url, error) };
  }
}

/** A segment that was not fetched. */
export function notLoaded(listed: ListedSegment): LoadedSegment {
  return { ...listed, bytes: null, sha256: null, decryption: { state: 'not encrypted' }, content: null };
}

/** Decrypts (AES-128-CBC, PKCS#7: RFC 8216 §4.3.2.4) and parses the chunks of a segment. */
class SegmentIntake {
  readonly #reader = new SegmentReader();
  readonly #decipher: Decipheriv | null = null;
  #violation: string | null = null;
  #head = Buffer.alloc(0);
  #anyClear = false;

  constructor({ key: tag, sequence }: ListedSegment, key: SegmentKey) {
    if (key === null) return;
    if ('violation' in key) this.#violation = key.violation;
    else this.#decipher = createDecipheriv('aes-128-cbc', key.bytes, tag?.vector ?? sequenceVector(sequence));
  }

  push(chunk: Buffer): void {
    if (this.#head.length < 189) this.#head = Buffer.concat([this.#head, chunk.subarray(0, 189)]);
    this.#read(this.#decipher?.update(chunk) ?? chunk);
  }

  end(): { decryption: Decryption; content: SegmentContent | null } {
    if (this.#decipher) this.#finish(this.#decipher);
    if (this.#violation !== null) {
      return { decryption: { state: 'failed', violation: this.#violation }, content: null };
    }
    const content = this.#reader.end();
    if (this.#decipher === null) return { decryption: { state: 'not encrypted' }, content };
    if (!content.beginsDamaged) return { decryption: { state: 'decrypted' }, content };
    const violation = 'decrypts to a first packet whose checksum is wrong: the vector is wrong';
    return { decryption: { state: 'failed', violation }, content: null };
  }

  #finish(decipher: Decipheriv): void {
    try {
      this.#read(decipher.final());
    } catch {
      // Only the text of OpenSSL's error distinguishes wrong padding from a length that is no multiple of 16.
      this.#violation ??= this.#isClear()
        ? 'is not encrypted'
        : 'does not end in PKCS#7 padding: it is truncated, or the key or the vector is wrong';
    }
  }

  #read(clear: Buffer): void {
    if (clear.length === 0 || this.#violation !== null) return;
    if (this.#decipher && !this.#anyClear && clear[0] !== SYNC_BYTE) {
      this.#violation = this.#isClear()
        ? 'is not encrypted'
        : 'does not decrypt to a transport stream: the key or the vector is wrong';
    }
    this.#anyClear = true;
    this.#reader.push(clear);
  }

  /** Whether the bytes are a transport stream before decryption. */
  #isClear(): boolean {
    return this.#head[0] === SYNC_BYTE && this.#head[188] === SYNC_BYTE;
  }
}

/** The vector if the key tag has no IV: the media sequence number (RFC 8216 §5.2). */
function sequenceVector(sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64BE(BigInt(sequence), 8);
  return vector;
}
