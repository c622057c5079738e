import type { TransportPacket } from './transport-packets.ts';

/** Ticks of a second in timestamps of transport streams. */
export const TICKS = 90_000;

/** A PES packet (ISO/IEC 13818-1 §2.4.3.6): a picture, or some frames of sound. Times in ticks, null when not given. */
export type PesPacket = { pts: number | null; dts: number | null; data: Buffer };

/** One picture is far smaller; what is longer is not kept, whoever sent it. */
const MAX_BYTES = 32 * 1024 ** 2;

/** Joins the packets of one elementary stream to PES packets. */
export class PesReader {
  #parts: Buffer[] | null = null;
  #bytes = 0;

  /** The PES packet that is complete now that another begins. Throws when one is malformed. */
  push({ begins, payload }: TransportPacket): PesPacket | null {
    const complete = begins ? this.end() : null;
    if (begins) this.#parts = [];
    // Before the first PES packet begins, there is nothing that payload could belong to.
    if (this.#parts === null || payload.length === 0) return complete;
    this.#bytes += payload.length;
    if (this.#bytes > MAX_BYTES) throw new Error(`a PES packet has more than ${MAX_BYTES} bytes`);
    this.#parts.push(payload);
    return complete;
  }

  /** The last PES packet; null when there is none. */
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
  // Length 0 means: to the end (§2.4.3.7); bytes beyond the length are stuffing.
  const data = bytes.subarray(begin, length === 0 ? undefined : 6 + length);
  const pts = (times & 0b10) !== 0 && bytes.length >= 14 ? readTime(bytes, 9) : null;
  return { pts, dts: times === 0b11 && bytes.length >= 19 ? readTime(bytes, 14) : pts, data };
}

/** 33 bits in five bytes, with marker bits in between. */
function readTime(bytes: Buffer, at: number): number {
  const high = (bytes.readUInt8(at) >> 1) & 0x07;
  return high * 2 ** 30 + (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (bytes.readUInt16BE(at + 3) >> 1);
}
