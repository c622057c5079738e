import type { TransportPacket } from './transport-packets.ts';

/** Packet identifier of the program association table. */
export const PAT_PID = 0;
/** Packet identifier of the service description table, which begins many segments (ETSI EN 300 468 §5.1.3). */
export const SDT_PID = 17;

/** Stream types of a program map table (ISO/IEC 13818-1 table 2-34) that this package reads. */
export const STREAM_TYPE = { aac: 0x0f, h264: 0x1b } as const;

/** A table of a transport stream: its bytes from table_id to the checksum. */
export type Table = { bytes: Buffer; intact: boolean };

/** Joins the packets of one kind of table (ISO/IEC 13818-1 §2.4.4). */
export class TableReader {
  #bytes: Buffer | null = null;

  /** The table that is complete with this packet. */
  push({ begins, payload }: TransportPacket): Table | null {
    if (begins) this.#bytes = payload.subarray(1 + (payload[0] ?? 0));
    else if (this.#bytes) this.#bytes = Buffer.concat([this.#bytes, payload]);
    if (this.#bytes === null || this.#bytes.length < 3) return null;
    const length = 3 + (this.#bytes.readUInt16BE(1) & 0x0fff);
    if (this.#bytes.length < length) return null;
    const bytes = this.#bytes.subarray(0, length);
    this.#bytes = null;
    return { bytes, intact: length > 12 && crc32(bytes) === 0 };
  }
}

/** Packet identifier of the first program's map. */
export function programMapPid({ bytes }: Table): number | null {
  // Program 0, the network information table, may precede the programs.
  for (let at = 8; at + 4 <= bytes.length - 4; at += 4) {
    if (bytes.readUInt16BE(at) !== 0) return bytes.readUInt16BE(at + 2) & 0x1fff;
  }
  return null;
}

/** The elementary streams of a program: type by packet identifier. */
export function programStreams({ bytes }: Table): Map<number, number> {
  const streams = new Map<number, number>();
  let at = 12 + (bytes.readUInt16BE(10) & 0x0fff);
  while (at + 5 <= bytes.length - 4) {
    streams.set(bytes.readUInt16BE(at + 1) & 0x1fff, bytes.readUInt8(at));
    at += 5 + (bytes.readUInt16BE(at + 3) & 0x0fff);
  }
  return streams;
}

/** CRC-32 of ISO/IEC 13818-1 annex A. It is 0 for bytes that end with their own checksum. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  return crc >>> 0;
}
