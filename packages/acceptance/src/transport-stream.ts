/**
 * What a player reads of an MPEG-2 transport stream (ISO/IEC 13818-1 §2.4): packets, the tables that say what is in it,
 * and the elementary streams.
 */

const PACKET_BYTES = 188;
const SYNC_BYTE = 0x47;
const PAT_PID = 0;
const SDT_PID = 17;

export type Packet = {
  pid: number;
  /** Whether a table or a PES packet begins here. */
  begins: boolean;
  continuity: number;
  /** Empty when the packet carries none. */
  payload: Buffer;
};

/** Whether every packet of it begins as one of a transport stream does. */
export function looksLikeTransportStream(bytes: Buffer): boolean {
  if (bytes.length < PACKET_BYTES) return false;
  for (let at = 0; at < bytes.length; at += PACKET_BYTES) if (bytes[at] !== SYNC_BYTE) return false;
  return true;
}

/** Throws when `segment` is not made of whole packets. */
export function packetsOf(segment: Buffer): Packet[] {
  if (segment.length % PACKET_BYTES !== 0 || !looksLikeTransportStream(segment)) {
    throw new Error('This is no transport stream');
  }
  const packets: Packet[] = [];
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    packets.push(packetOf(segment.subarray(at, at + PACKET_BYTES)));
  }
  return packets;
}

/** The identifier of the one elementary stream. Throws unless a PAT and a PMT that name it stand before it. */
export function streamPid(packets: readonly Packet[]): number {
  const pat = tableAt(packets, PAT_PID);
  const pmt = tableAt(packets, pmtPidOf(pat.table));
  const programInfoBytes = pmt.table.readUInt16BE(10) & 0x0fff;
  const pid = pmt.table.readUInt16BE(13 + programInfoBytes) & 0x1fff;
  const first = packets.findIndex((packet) => packet.pid === pid);
  if (first < Math.max(pat.at, pmt.at)) throw new Error('The stream begins before its PAT and PMT');
  return pid;
}

/**
 * The identifiers of tables whose checksum is wrong. A segment begins with tables, and a wrong initialisation vector
 * alters nothing but its first 16 bytes: this is where it shows.
 */
export function damagedTables(packets: readonly Packet[]): number[] {
  const pat = tableAt(packets, PAT_PID);
  const pids = [PAT_PID, SDT_PID, pmtPidOf(pat.table)];
  return packets
    .filter(({ pid, begins }) => begins && pids.includes(pid))
    .filter(({ payload }) => crc32(section(payload)) !== 0)
    .map(({ pid }) => pid);
}

/** The bytes of an elementary stream, without the headers of its PES packets. */
export function elementaryStream(packets: readonly Packet[], pid: number): Buffer {
  const parts = packets
    .filter((packet) => packet.pid === pid)
    .map(({ begins, payload }) => (begins ? payload.subarray(9 + payload.readUInt8(8)) : payload));
  return Buffer.concat(parts);
}

function packetOf(bytes: Buffer): Packet {
  const head = bytes.readUInt16BE(1);
  const flags = bytes.readUInt8(3);
  const adaptationBytes = (flags & 0x20) === 0 ? 0 : 1 + bytes.readUInt8(4);
  return {
    pid: head & 0x1fff,
    begins: (head & 0x4000) !== 0,
    continuity: flags & 0x0f,
    payload: (flags & 0x10) === 0 ? Buffer.alloc(0) : bytes.subarray(4 + adaptationBytes),
  };
}

/** The first table with this identifier, from its table_id on, and the place of its packet. */
function tableAt(packets: readonly Packet[], pid: number): { at: number; table: Buffer } {
  const at = packets.findIndex((packet) => packet.pid === pid && packet.begins);
  const payload = packets[at]?.payload;
  if (payload === undefined) throw new Error(`There is no table with the identifier ${pid}`);
  return { at, table: section(payload) };
}

/** The table that begins in a packet, its checksum included. */
function section(payload: Buffer): Buffer {
  const table = payload.subarray(1 + payload.readUInt8(0));
  return table.subarray(0, 3 + (table.readUInt16BE(1) & 0x0fff));
}

function pmtPidOf(pat: Buffer): number {
  return pat.readUInt16BE(10) & 0x1fff;
}

/** The checksum of ISO/IEC 13818-1 annex A; 0 over bytes that end in their own. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  return crc >>> 0;
}
