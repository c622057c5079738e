/** Alters transport streams of ffmpeg for the tests. Knows only the part of the format that they need. */

const PACKET_BYTES = 188;
const NULL_PACKET = Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)]);

export const PID = { pat: 0, pmt: 4096, stream: 256 } as const;

/** The packets of a segment. They share their bytes with it. */
export function packetsOf(segment: Buffer): Buffer[] {
  return Array.from({ length: segment.length / PACKET_BYTES }, (_, at) =>
    segment.subarray(at * PACKET_BYTES, (at + 1) * PACKET_BYTES),
  );
}

export function pidOf(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff;
}

export function begins(packet: Buffer): boolean {
  return (packet.readUInt8(1) & 0x40) !== 0;
}

/** A segment with this many null packets added. */
export function padded(segment: Buffer, packets: number): Buffer {
  return Buffer.concat([segment, ...Array.from({ length: packets }, () => NULL_PACKET)]);
}

/** The offset of a packet's payload. */
export function payloadAt(packet: Buffer): number {
  return (packet.readUInt8(3) & 0x20) === 0 ? 4 : 5 + packet.readUInt8(4);
}

/** Moves the times of a segment's PES packets from number `from` to the one before `to`. */
export function shift(segment: Buffer, ticks: number, from = 0, to = Number.POSITIVE_INFINITY): void {
  let count = -1;
  for (const packet of packetsOf(segment)) {
    if (pidOf(packet) !== PID.stream || !begins(packet)) continue;
    count += 1;
    if (count < from || count >= to) continue;
    const at = payloadAt(packet);
    const flags = packet.readUInt8(at + 7) >> 6;
    for (const time of flags === 3 ? [at + 9, at + 14] : [at + 9])
      writeTime(packet, time, readTime(packet, time) + ticks);
  }
}

/** Moves the presentation time of one frame. */
export function delayFrame(segment: Buffer, number: number, ticks: number): void {
  const packet = frameOf(segment, number);
  const time = payloadAt(packet) + 9;
  writeTime(packet, time, readTime(packet, time) + ticks);
}

/** Displays a frame this long after the first stored one. */
export function moveFrame(segment: Buffer, number: number, ticks: number): void {
  const [first, packet] = [frameOf(segment, 0), frameOf(segment, number)];
  writeTime(packet, payloadAt(packet) + 9, readTime(first, payloadAt(first) + 9) + ticks);
}

function frameOf(segment: Buffer, number: number): Buffer {
  const packet = packetsOf(segment).filter((each) => pidOf(each) === PID.stream && begins(each))[number];
  if (packet === undefined) throw new Error(`There is no frame ${number}`);
  return packet;
}

/** Changes the type of all NAL units of one type, from an offset on. Returns how many. */
export function retype(segment: Buffer, from: number, to: number, offset = 0): number {
  let count = 0;
  for (
    let at = segment.indexOf('000001', offset, 'hex');
    at !== -1;
    at = segment.indexOf('000001', at + 3, 'hex')
  ) {
    const head = segment.readUInt8(at + 3);
    if ((head & 0x1f) !== from) continue;
    segment.writeUInt8((head & 0xe0) | to, at + 3);
    count += 1;
  }
  return count;
}

function readTime(bytes: Buffer, at: number): number {
  const high = (bytes.readUInt8(at) >> 1) & 0x07;
  return high * 2 ** 30 + (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (bytes.readUInt16BE(at + 3) >> 1);
}

function writeTime(bytes: Buffer, at: number, time: number): void {
  bytes.writeUInt8((bytes.readUInt8(at) & 0xf1) | ((Math.floor(time / 2 ** 30) & 0x07) << 1), at);
  bytes.writeUInt16BE(((Math.floor(time / 2 ** 15) & 0x7fff) << 1) | 1, at + 1);
  bytes.writeUInt16BE(((time & 0x7fff) << 1) | 1, at + 3);
}
