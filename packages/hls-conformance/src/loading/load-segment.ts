import { createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { type SegmentContent, SegmentReader } from '../media/segment-reader.ts';
import type { ListedSegment } from '../playlists/media-playlist.ts';
import type { Answer, Decryption, LoadedSegment } from '../presentation.ts';
import { answerOf, noAnswer } from './fetching.ts';
import { decodedBody, type HttpClient } from './http-client.ts';

/** The key a segment is encrypted with, or why there is none that can be used; null for a segment in clear. */
export type SegmentKey = { bytes: Buffer } | { violation: string } | null;

const SYNC_BYTE = 0x47;

/**
 * Fetches a segment, decrypts it and takes it to pieces while it comes in, so that one of any size takes little memory.
 * Every failure is part of the result.
 */
export async function loadSegment(
  client: HttpClient,
  listed: ListedSegment,
  key: SegmentKey,
): Promise<{ segment: LoadedSegment; answer: Answer }> {
  try {
    const opened = await client.ask(listed.url);
    const answer = answerOf('segment', listed.url, opened);
    if (opened.status !== 200) {
      opened.body.resume();
      return { segment: notLoaded(listed), answer };
    }
    const hash = createHash('sha256');
    let bytes = 0;
    opened.body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    const taking = new SegmentTaking(listed, key);
    for await (const chunk of decodedBody(opened)) taking.push(chunk as Buffer);
    const segment = { ...listed, bytes, sha256: hash.digest('hex'), ...taking.end() };
    return { segment, answer: { ...answer, bytes } };
  } catch (error) {
    return { segment: notLoaded(listed), answer: noAnswer('segment', listed.url, error) };
  }
}

/** A segment that is listed, and no more is known of. */
export function notLoaded(listed: ListedSegment): LoadedSegment {
  return { ...listed, bytes: null, sha256: null, decryption: { state: 'not encrypted' }, content: null };
}

/** Decrypts (AES-128-CBC, PKCS#7: RFC 8216 §4.3.2.4) and reads what comes in. */
class SegmentTaking {
  readonly #reader = new SegmentReader();
  readonly #decipher: Decipheriv | null = null;
  #violation: string | null = null;
  #delivered = Buffer.alloc(0);
  #anyClear = false;

  constructor({ key: tag, sequence }: ListedSegment, key: SegmentKey) {
    if (key === null) return;
    if ('violation' in key) this.#violation = key.violation;
    else this.#decipher = createDecipheriv('aes-128-cbc', key.bytes, tag?.vector ?? sequenceVector(sequence));
  }

  push(chunk: Buffer): void {
    if (this.#delivered.length < 189)
      this.#delivered = Buffer.concat([this.#delivered, chunk.subarray(0, 189)]);
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
      // Node tells a length that is no multiple of 16 and wrong padding apart only in words of OpenSSL.
      this.#violation ??= this.#isClear()
        ? 'is not encrypted'
        : 'does not end in PKCS#7 padding: it is cut off, or key or vector are wrong';
    }
  }

  #read(clear: Buffer): void {
    if (clear.length === 0 || this.#violation !== null) return;
    if (this.#decipher && !this.#anyClear && clear[0] !== SYNC_BYTE) {
      this.#violation = this.#isClear()
        ? 'is not encrypted'
        : 'decrypts to no transport stream: key or vector are wrong';
    }
    this.#anyClear = true;
    this.#reader.push(clear);
  }

  /** Whether what was delivered is a transport stream already. */
  #isClear(): boolean {
    return this.#delivered[0] === SYNC_BYTE && this.#delivered[188] === SYNC_BYTE;
  }
}

/** The vector of a segment whose key tag has none: its media sequence number (RFC 8216 §5.2). */
function sequenceVector(sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64BE(BigInt(sequence), 8);
  return vector;
}
