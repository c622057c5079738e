/** Bytes of one packet (ISO/IEC 13818-1 §2.4.3.2). */
export const PACKET_BYTES = 188;
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

/** Whether bytes begin with a packet of a transport stream. */
export function isTransportStream(bytes: Buffer): boolean {
  return bytes.length >= PACKET_BYTES && bytes[0] === SYNC_BYTE;
}

/**
 * Seconds at which the first unit of the stream is presented (ISO/IEC 13818-1 §2.4.3.7). Throws when no unit begins, or it
 * bears no time.
 */
export function firstTimestamp(segment: Buffer): number {
  for (let at = 0; at + PACKET_BYTES <= segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    if (!startsUnit(packet)) continue;
    const time = presentationTime(packet);
    if (time === null) break;
    return time;
  }
  throw new Error('The segment does not begin with a timestamp');
}

/** Whether a PES packet of the one stream begins in a packet. */
function startsUnit(packet: Buffer): boolean {
  return (packet.readUInt16BE(1) & 0x5fff) === (0x4000 | STREAM_ID);
}

/** Null when the unit that begins in a packet bears no time. */
function presentationTime(packet: Buffer): number | null {
  const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0;
  const pes = packet.subarray(4 + (hasAdaptation ? 1 + packet.readUInt8(4) : 0));
  if ((pes.readUInt8(7) & 0x80) === 0) return null;
  const high = (pes.readUInt8(9) >> 1) & 0x07;
  const ticks = high * 2 ** 30 + (pes.readUInt16BE(10) >> 1) * 2 ** 15 + (pes.readUInt16BE(12) >> 1);
  return ticks / TICKS_PER_SECOND;
}

/** A PES packet of sound has less than 64 KiB: its length is a number of 16 bits. */
const MOST_SOUND_BYTES = 65_536;

/** Reads a segment in pieces and tells when it ends. */
export class StreamEnd {
  readonly #kind: 'video' | 'audio';
  #rest = Buffer.alloc(0);
  #latest: number | undefined;
  /** The sound of the last unit. */
  #sound: Buffer[] = [];
  #soundBytes = 0;

  constructor(kind: 'video' | 'audio') {
    this.#kind = kind;
  }

  /** Takes the next bytes. Throws when they are no transport stream. */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (; at + PACKET_BYTES <= bytes.length; at += PACKET_BYTES) {
      const packet = bytes.subarray(at, at + PACKET_BYTES);
      if (packet[0] !== SYNC_BYTE) throw new Error('A transport stream packet is missing');
      if ((packet.readUInt16BE(1) & 0x1fff) === STREAM_ID) this.#take(packet);
    }
    // A copy: streams use their buffers again.
    this.#rest = Buffer.from(bytes.subarray(at));
  }

  /** Seconds at which the last picture begins to be presented, or the sound ends. Throws when the last unit is not whole. */
  seconds(): number {
    if (this.#latest === undefined) throw new Error('No unit has a timestamp');
    return this.#latest + (this.#kind === 'audio' ? soundSeconds(Buffer.concat(this.#sound)) : 0);
  }

  #take(packet: Buffer): void {
    if (startsUnit(packet)) {
      // Pictures are not in the order in which they are presented.
      const time = presentationTime(packet);
      if (time !== null) this.#latest = Math.max(this.#latest ?? 0, time);
      this.#sound = [];
      this.#soundBytes = 0;
    }
    if (this.#kind === 'video') return;
    const bytes = streamBytes(packet, startsUnit(packet));
    this.#soundBytes += bytes.length;
    if (this.#soundBytes > MOST_SOUND_BYTES) throw new Error('A unit of sound is too long');
    this.#sound.push(Buffer.from(bytes));
  }
}

/** Sampling frequencies of AAC by their index (ISO/IEC 14496-3 table 1.18). */
const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const ADTS_HEADER_BYTES = 7;
const AAC_BLOCK_SAMPLES = 1024;

/** Seconds of sound in whole ADTS frames (ISO/IEC 14496-3 §1.A.2). Throws when they are anything else. */
function soundSeconds(frames: Buffer): number {
  let seconds = 0;
  let at = 0;
  while (at + ADTS_HEADER_BYTES <= frames.length && frames.readUInt16BE(at) >= 0xfff0) {
    const sampleRate = SAMPLE_RATES[(frames.readUInt8(at + 2) >> 2) & 0x0f] ?? 0;
    const blocks = (frames.readUInt8(at + 6) & 0x03) + 1;
    seconds += (blocks * AAC_BLOCK_SAMPLES) / sampleRate;
    // 13 bits, over three bytes.
    at += Math.max(ADTS_HEADER_BYTES, (frames.readUIntBE(at + 3, 3) >> 5) & 0x1fff);
  }
  if (at !== frames.length) throw new Error('The last unit of sound is not whole');
  return seconds;
}
