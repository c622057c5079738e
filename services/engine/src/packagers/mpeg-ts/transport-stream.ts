import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { ElementaryReader, StreamConfiguration } from '../../encoders/stream-reader.ts';
import { ROUNDING_SECONDS } from '../../plan/key-frames.ts';

/** Size of a packet (ISO/IEC 13818-1 §2.4.3.2). */
export const PACKET_BYTES = 188;
const SYNC_BYTE = 0x47;
/** The packet identifier (PID) that ffmpeg gives the only stream of a program. */
export const STREAM_PID = 0x100;

/**
 * The elementary stream of an MPEG-2 transport stream with one stream (ISO/IEC 13818-1 §2.4.3): the payloads without the
 * headers of transport and PES packets. Throws if `segment` is not a transport stream.
 */
export function elementaryStream(segment: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + PACKET_BYTES <= segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    if (packet[0] !== SYNC_BYTE) throw new Error(`No transport stream packet at byte ${at}`);
    if (pidOf(packet) === STREAM_PID) parts.push(streamBytes(packet, startsUnit(packet)));
  }
  return Buffer.concat(parts);
}

function streamBytes(packet: Buffer, startsPes: boolean): Buffer {
  const control = (packet[3] ?? 0) & 0x30;
  const hasPayload = (control & 0x10) !== 0;
  if (!hasPayload) return Buffer.alloc(0);
  const adaptationBytes = (control & 0x20) === 0 ? 0 : 1 + (packet[4] ?? 0);
  const payload = packet.subarray(4 + adaptationBytes);
  // A PES header has 9 fixed bytes (start code, stream id, length, flags, length of the rest), then the rest.
  return startsPes ? payload.subarray(9 + (payload[8] ?? 0)) : payload;
}

/** Whether bytes begin with a transport stream packet. */
export function isTransportStream(bytes: Buffer): boolean {
  return bytes.length >= PACKET_BYTES && bytes[0] === SYNC_BYTE;
}

/**
 * Presentation time of the first access unit in seconds (ISO/IEC 13818-1 §2.4.3.7). Throws if there is no access unit, or it
 * has no timestamp.
 */
export function firstTimestamp(segment: Buffer): number {
  const time = presentationTime(firstUnit(segment));
  if (time === null) throw new Error('The segment does not begin with a timestamp');
  return time;
}

/** Seconds from the decoding to the presentation of the first access unit. Throws if there is no access unit, or it has no timestamp. */
export function decodingDelay(segment: Buffer): number {
  const packet = firstUnit(segment);
  return firstTimestamp(packet) - (decodingTime(packet) ?? firstTimestamp(packet));
}

/** The packet in which the first access unit begins. */
function firstUnit(segment: Buffer): Buffer {
  for (let at = 0; at + PACKET_BYTES <= segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    if (packet[0] !== SYNC_BYTE) throw new Error(`No transport stream packet at byte ${at}`);
    if (startsUnit(packet)) return packet;
  }
  throw new Error('The segment does not begin with a timestamp');
}

/** Lets `edit` change, in place, the bytes of the stream in each packet in which an access unit begins. Resolves with a copy. */
export function editUnits(segment: Buffer, edit: (beginning: Buffer) => void): Buffer {
  const copy = Buffer.from(segment);
  for (let at = 0; at + PACKET_BYTES <= copy.length; at += PACKET_BYTES) {
    const packet = copy.subarray(at, at + PACKET_BYTES);
    if (startsUnit(packet)) edit(streamBytes(packet, true));
  }
  return copy;
}

/** Whether a PES packet of the stream begins in a transport packet. */
export function startsUnit(packet: Buffer): boolean {
  return (packet.readUInt16BE(1) & 0x5fff) === (0x4000 | STREAM_PID);
}

/** The timestamp of the PES packet that begins in a transport packet, in seconds; null if it has none. */
function presentationTime(packet: Buffer): number | null {
  const pes = pesOf(packet);
  return (pes.readUInt8(7) & 0x80) === 0 ? null : timestampAt(pes, 9);
}

/** The decoding time of the same, in seconds; null if it is the presentation time. */
function decodingTime(packet: Buffer): number | null {
  const pes = pesOf(packet);
  return (pes.readUInt8(7) & 0x40) === 0 ? null : timestampAt(pes, 14);
}

function pesOf(packet: Buffer): Buffer {
  const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0;
  return packet.subarray(4 + (hasAdaptation ? 1 + packet.readUInt8(4) : 0));
}

/** A timestamp of 33 bits within five bytes. */
function timestampAt(pes: Buffer, at: number): number {
  const high = (pes.readUInt8(at) >> 1) & 0x07;
  const ticks = high * 2 ** 30 + (pes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (pes.readUInt16BE(at + 3) >> 1);
  return ticks / CLOCK_HZ;
}

/** Cuts chunks of a transport stream into its packets. */
class PacketReader {
  #rest = Buffer.alloc(0);

  /** The packets that are complete with the next bytes. Throws if they are not a transport stream. */
  *read(chunk: Buffer): Generator<Buffer> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (; at + PACKET_BYTES <= bytes.length; at += PACKET_BYTES) {
      const packet = bytes.subarray(at, at + PACKET_BYTES);
      if (packet[0] !== SYNC_BYTE) throw new Error('A transport stream packet is missing');
      yield packet;
    }
    // A copy, as the stream reuses its buffers.
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}

/** The packet identifier of a transport packet. */
export function pidOf(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff;
}

/** A PES packet of audio has less than 64 KiB: its length field has 16 bits. */
const MAX_AUDIO_PES_BYTES = 65_536;

/** Reads a segment in chunks and computes when it ends. */
export class StreamEnd {
  readonly #durationOf: ElementaryReader['duration'];
  readonly #configuration: StreamConfiguration | null;
  readonly #packets = new PacketReader();
  #latest: number | undefined;
  #pesPackets = 0;
  /** The payload of the last audio PES packet. */
  #audio: Buffer[] = [];
  #audioBytes = 0;

  /** @param configuration gets the bytes of the stream, too */
  constructor(
    { duration }: Pick<ElementaryReader, 'duration'>,
    configuration: StreamConfiguration | null = null,
  ) {
    this.#durationOf = duration;
    this.#configuration = configuration;
  }

  /** Adds the next bytes. Throws if they are not a transport stream. */
  push(chunk: Buffer): void {
    for (const packet of this.#packets.read(chunk)) {
      if (pidOf(packet) === STREAM_PID) this.#take(packet);
    }
  }

  /** Number of PES packets so far. */
  get pesPackets(): number {
    return this.#pesPackets;
  }

  /**
   * Video: presentation time of the last frame. Audio: the end of the last frame. In seconds. Throws an IncompleteUnitError, or an
   * Error if there is no timestamp.
   */
  seconds(): number {
    if (this.#latest === undefined) throw new Error('There is no timestamp');
    return this.#latest + (this.#durationOf?.(Buffer.concat(this.#audio)) ?? 0);
  }

  #take(packet: Buffer): void {
    const beginsUnit = startsUnit(packet);
    if (beginsUnit) {
      this.#pesPackets += 1;
      // Frames are stored in decoding order, not in presentation order.
      const time = presentationTime(packet);
      if (time !== null) this.#latest = Math.max(this.#latest ?? 0, time);
      this.#audio = [];
      this.#audioBytes = 0;
    }
    if (this.#durationOf === undefined && this.#configuration === null) return;
    const bytes = streamBytes(packet, beginsUnit);
    this.#configuration?.push(bytes, beginsUnit);
    if (this.#durationOf === undefined) return;
    this.#audioBytes += bytes.length;
    if (this.#audioBytes > MAX_AUDIO_PES_BYTES) throw new Error('An audio PES packet is too long');
    this.#audio.push(Buffer.from(bytes));
  }
}

/** The PIDs of the program association table and of the program map table that ffmpeg writes. */
const TABLE_PIDS: readonly number[] = [0, 0x1000];

/** An access unit, and the tables that decoders need before it: a transport stream of its own. */
export type AccessUnit = { start: number; stream: Buffer };

/** Reads a segment of video in chunks and collects the access units of its key frames. */
export class KeyFrames {
  readonly #packets = new PacketReader();
  readonly #minSeconds: number;
  readonly #tables = new Map<number, Buffer>();
  readonly #units: AccessUnit[] = [];
  #current: { start: number; packets: Buffer[] } | undefined;

  /** Leaves out key frames that come less than `minSeconds` after the previous one. */
  constructor(minSeconds: number) {
    this.#minSeconds = minSeconds;
  }

  /** Adds the next bytes. Throws if they are not a transport stream. */
  push(chunk: Buffer): void {
    for (const packet of this.#packets.read(chunk)) {
      const pid = pidOf(packet);
      if (TABLE_PIDS.includes(pid) && !this.#tables.has(pid)) this.#tables.set(pid, Buffer.from(packet));
      if (pid !== STREAM_PID) continue;
      if (startsUnit(packet)) this.#begin(packet);
      this.#current?.packets.push(Buffer.from(packet));
    }
  }

  /** The access units, after the last bytes. */
  end(): readonly AccessUnit[] {
    this.#finish();
    return this.#units;
  }

  #begin(packet: Buffer): void {
    this.#finish();
    const start = isRandomAccessPoint(packet) ? presentationTime(packet) : null;
    const previous = this.#units.at(-1)?.start ?? Number.NEGATIVE_INFINITY;
    if (start !== null && start - previous > this.#minSeconds - ROUNDING_SECONDS)
      this.#current = { start, packets: [] };
  }

  #finish(): void {
    if (this.#current === undefined) return;
    const { start, packets } = this.#current;
    this.#units.push({ start, stream: Buffer.concat([...this.#tables.values(), ...packets]) });
    this.#current = undefined;
  }
}

/** Whether the access unit that begins in a packet can be decoded without earlier ones (ISO/IEC 13818-1 §2.4.3.5). */
export function isRandomAccessPoint(packet: Buffer): boolean {
  const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0;
  return hasAdaptation && packet.readUInt8(4) > 0 && (packet.readUInt8(5) & 0x40) !== 0;
}
