import type { TransportPacket } from './transport-packets.ts';

/** Ticks per second in the timestamps of transport streams. */
export const TICKS = 90_000;

/** A PES packet (ISO/IEC 13818-1 §2.4.3.6): a video frame, or some audio frames. Times in ticks; null if missing. */
export type PesPacket = { pts: number | null; dts: number | null; data: Buffer };

/** Limits the memory that a malformed stream can take. A frame is far smaller. */
const MAX_BYTES = 32 * 1024 ** 2;

/** Joins the packets of one elementary stream to PES packets. */
export class PesReader {
  #parts: Buffer[] | null = null;
  #bytes = 0;

  /** The previous PES packet, if this packet begins another. Throws if it is malformed. */
  push({ begins, payload }: TransportPacket): PesPacket | null {
    const complete = begins ? this.end() : null;
    if (begins) this.#parts = [];
    // Payload before the first PES packet belongs to none.
    if (this.#parts === null || payload.length === 0) return complete;
    this.#bytes += payload.length;
    if (this.#bytes > MAX_BYTES) throw new Error(`a PES packet has more than ${MAX_BYTES} bytes`);
    this.#parts.push(payload);
    return complete;
  }

  /** The last PES packet; null without one. */
  end(): PesPacket | null {
    const bytes = this.#parts && Buffer.concat(this.#parts);
    this.#parts = null;
    this.#bytes = 0;
    return bytes && readPes(bytes);
  }
}

function readPes(bytes: Buffer): PesPacket {
  if (bytes.length < 9 || bytes.readUIntBE(0, 3) !== 1) throw new Error('a PES packet has no start code');
  const times = bytes.readUInt8(7) >> 6;
  const begin = 9 + bytes.readUInt8(8);
  const length = bytes.readUInt16BE(4);
  // Length 0 means up to the end (§2.4.3.7). Bytes after the length are stuffing.
  const data = bytes.subarray(begin, length === 0 ? undefined : 6 + length);
  const pts = (times & 0b10) !== 0 && bytes.length >= 14 ? readTime(bytes, 9) : null;
  return { pts, dts: times === 0b11 && bytes.length >= 19 ? readTime(bytes, 14) : pts, data };
}

/** 33 bits in five bytes, separated by marker bits. */
function readTime(bytes: Buffer, at: number): number {
  const high = (bytes.readUInt8(at) >> 1) & 0x07;
  return high * 2 ** 30 + (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (bytes.readUInt16BE(at + 3) >> 1);
}
