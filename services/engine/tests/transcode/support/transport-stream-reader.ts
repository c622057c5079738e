/**
 * Reads ffmpeg's transport streams for the tests: what a strict player looks at. Written apart from the engine's own
 * reader, so that the two cannot share a mistake.
 */

/** A unit of the stream: one picture, or some frames of sound. Times in ticks of 90 kHz. */
export type StreamUnit = { pts: number; bytes: Buffer };

export type SegmentContent = {
  /** Packet identifiers in order of first appearance. */
  pids: number[];
  /** First and last continuity counter of each packet identifier. */
  counters: Map<number, { first: number; last: number }>;
  units: StreamUnit[];
};

const STREAM_PID = 256;

/** Throws when packets are out of step or a counter jumps. */
export function readSegment(segment: Buffer): SegmentContent {
  const content: SegmentContent = { pids: [], counters: new Map(), units: [] };
  if (segment.length % 188 !== 0) throw new Error('The segment is not made of whole packets');
  for (let at = 0; at < segment.length; at += 188) {
    const packet = segment.subarray(at, at + 188);
    if (packet[0] !== 0x47) throw new Error(`Packet at ${at} is out of step`);
    const pid = packet.readUInt16BE(1) & 0x1fff;
    const flags = packet.readUInt8(3);
    count(content, pid, flags & 0x0f);
    if (pid !== STREAM_PID || (flags & 0x10) === 0) continue;
    const payload = packet.subarray(flags & 0x20 ? 5 + packet.readUInt8(4) : 4);
    if (packet.readUInt8(1) & 0x40) content.units.push(openUnit(payload));
    else appendTo(content.units.at(-1), payload);
  }
  return content;
}

function count(content: SegmentContent, pid: number, counter: number): void {
  const known = content.counters.get(pid);
  if (!known) {
    content.pids.push(pid);
    content.counters.set(pid, { first: counter, last: counter });
    return;
  }
  if (counter !== (known.last + 1) % 16)
    throw new Error(`Counter of ${pid} jumps from ${known.last} to ${counter}`);
  known.last = counter;
}

function openUnit(payload: Buffer): StreamUnit {
  if ((payload.readUInt8(7) & 0x80) === 0) throw new Error('A unit has no presentation time');
  const high = (payload.readUInt8(9) >> 1) & 0x07;
  const pts = high * 2 ** 30 + (payload.readUInt16BE(10) >> 1) * 2 ** 15 + (payload.readUInt16BE(12) >> 1);
  return { pts, bytes: Buffer.from(payload.subarray(9 + payload.readUInt8(8))) };
}

function appendTo(unit: StreamUnit | undefined, payload: Buffer): void {
  if (!unit) throw new Error('The segment begins in the middle of a unit');
  unit.bytes = Buffer.concat([unit.bytes, payload]);
}

/** Types of the H.264 units in a picture. */
export function nalTypes(picture: Buffer): number[] {
  const types: number[] = [];
  for (
    let at = picture.indexOf('000001', 0, 'hex');
    at !== -1;
    at = picture.indexOf('000001', at + 3, 'hex')
  ) {
    types.push(picture.readUInt8(at + 3) & 0x1f);
  }
  return types;
}

const SAMPLE_RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000];

/** Seconds of sound in some bytes of ADTS. */
export function adtsSeconds(bytes: Buffer): number {
  let seconds = 0;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== 0xff) throw new Error('An ADTS frame is out of step');
    seconds += 1024 / (SAMPLE_RATES[(bytes.readUInt8(at + 2) >> 2) & 0x0f] ?? Number.NaN);
    at +=
      ((bytes.readUInt8(at + 3) & 0x03) << 11) |
      (bytes.readUInt8(at + 4) << 3) |
      (bytes.readUInt8(at + 5) >> 5);
  }
  return seconds;
}
