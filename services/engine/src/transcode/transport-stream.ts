const PACKET_BYTES = 188;
const SYNC_BYTE = 0x47;
/** The packet identifier ffmpeg gives the first stream of a programme. */
const STREAM_ID = 0x100;
/** Ticks of the clock that timestamps count in, a second. */
const TICKS_PER_SECOND = 90_000;

/**
 * The bytes of the elementary stream in an MPEG-2 transport stream that carries one (ISO/IEC 13818-1 §2.4.3): payloads of
 * its packets without the headers of transport and PES packets. Throws when `segment` is no transport stream.
 */
export function elementaryStream(segment: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + PACKET_BYTES <= segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    if (packet[0] !== SYNC_BYTE) throw new Error(`No transport stream packet at byte ${at}`);
    const second = packet.readUInt16BE(1);
    if ((second & 0x1fff) === STREAM_ID) parts.push(streamBytes(packet, (second & 0x4000) !== 0));
  }
  return Buffer.concat(parts);
}

function streamBytes(packet: Buffer, startsPes: boolean): Buffer {
  const control = (packet[3] ?? 0) & 0x30;
  const hasPayload = (control & 0x10) !== 0;
  if (!hasPayload) return Buffer.alloc(0);
  const adaptationBytes = (control & 0x20) === 0 ? 0 : 1 + (packet[4] ?? 0);
  const payload = packet.subarray(4 + adaptationBytes);
  // PES: start code, stream id, length, flags, then the length of the rest of its header.
  return startsPes ? payload.subarray(9 + (payload[8] ?? 0)) : payload;
}

/**
 * Seconds at which the first unit of the stream is presented (ISO/IEC 13818-1 §2.4.3.7). Throws when no unit begins, or it
 * bears no time.
 */
export function firstTimestamp(segment: Buffer): number {
  for (let at = 0; at + PACKET_BYTES <= segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    const second = packet.readUInt16BE(1);
    if ((second & 0x5fff) !== (0x4000 | STREAM_ID)) continue;
    const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0;
    const pes = packet.subarray(4 + (hasAdaptation ? 1 + packet.readUInt8(4) : 0));
    if ((pes.readUInt8(7) & 0x80) === 0) break;
    const high = (pes.readUInt8(9) >> 1) & 0x07;
    const ticks = high * 2 ** 30 + (pes.readUInt16BE(10) >> 1) * 2 ** 15 + (pes.readUInt16BE(12) >> 1);
    return ticks / TICKS_PER_SECOND;
  }
  throw new Error('The segment does not begin with a timestamp');
}
