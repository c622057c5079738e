import { createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { beginsAsFragments, FragmentReader } from '../media/mp4/fragment-reader.ts';
import type { Initialization } from '../media/mp4/initialization.ts';
import type { SegmentContent } from '../media/segment-content.ts';
import { SegmentReader } from '../media/segment-reader.ts';
import { SYNC_BYTE } from '../media/transport-packets.ts';
import type { ListedSegment } from '../playlists/media-playlist.ts';
import type { Decryption, LoadedResponse, LoadedSegment } from '../presentation.ts';
import { failedResponse, responseOf } from './fetching.ts';
import { decodedBody, type HttpClient } from './http-client.ts';

/** The key of a segment, or why it cannot be used; null if the segment is not encrypted. */
export type SegmentKey = { bytes: Buffer } | { violation: string } | null;

/**
 * Fetches, decrypts and parses a segment as a stream, so that large segments need little memory. Failures are part of
 * the result. With an initialization section it is fragmented MP4, otherwise a transport stream.
 */
export async function loadSegment(
  client: HttpClient,
  listed: ListedSegment,
  { key, initialization }: { key: SegmentKey; initialization: Initialization | null },
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
    const intake = new SegmentIntake(listed, key, initialization);
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

/** How to recognise and read a kind of segments. */
type Format = {
  name: string;
  reader: { push(chunk: Buffer): void; end(): SegmentContent };
  /** Whether decrypted bytes, at least one block of AES, are the beginning of a segment. */
  begins: (bytes: Buffer) => boolean;
  /** Whether bytes are the beginning of a segment, more certainly: they may be encrypted. */
  isClear: (bytes: Buffer) => boolean;
};

function formatOf(initialization: Initialization | null): Format {
  if (initialization !== null)
    return {
      name: 'fragmented MP4',
      reader: new FragmentReader(initialization),
      begins: beginsAsFragments,
      isClear: beginsAsFragments,
    };
  return {
    name: 'a transport stream',
    reader: new SegmentReader(),
    begins: (bytes) => bytes[0] === SYNC_BYTE,
    isClear: (bytes) => bytes[0] === SYNC_BYTE && bytes[188] === SYNC_BYTE,
  };
}

/** Decrypts (AES-128-CBC, PKCS#7: RFC 8216 §4.3.2.4) and parses the chunks of a segment. */
class SegmentIntake {
  readonly #format: Format;
  readonly #decipher: Decipheriv | null = null;
  #violation: string | null = null;
  #head = Buffer.alloc(0);
  #anyClear = false;

  constructor({ key: tag, sequence }: ListedSegment, key: SegmentKey, initialization: Initialization | null) {
    this.#format = formatOf(initialization);
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
    const content = this.#format.reader.end();
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
    if (this.#decipher && !this.#anyClear && !this.#format.begins(clear)) {
      this.#violation = this.#isClear()
        ? 'is not encrypted'
        : `does not decrypt to ${this.#format.name}: the key or the vector is wrong`;
    }
    this.#anyClear = true;
    this.#format.reader.push(clear);
  }

  #isClear(): boolean {
    return this.#format.isClear(this.#head);
  }
}

/** The vector if the key tag has no IV: the media sequence number (RFC 8216 §5.2). */
function sequenceVector(sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64BE(BigInt(sequence), 8);
  return vector;
}
