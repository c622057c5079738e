import { PACKET_BYTES, pidOf, STREAM_PID } from './transport-stream.ts';

/** The highest continuity counter. The one after it is 0 (ISO/IEC 13818-1 §2.4.3.3). */
const LAST_COUNTER = 15;
const HEADER_BYTES = 4;
const MAX_PAYLOAD_BYTES = PACKET_BYTES - HEADER_BYTES;
/** Header flag: a PES packet or a table begins in the packet. */
const STARTS_UNIT = 0x40;
/** Header flags: the packet has an adaptation field, and a payload. */
const HAS_ADAPTATION = 0x20;
const HAS_PAYLOAD = 0x10;
const STUFFING = 0xff;

/**
 * Adds up to 15 packets of each PID to a segment, so that all counters end at 15. A segment of another run, whose counters begin
 * at 0, can then follow it. Tables are repeated. The last payloads of the stream are spread over more packets; its bytes stay
 * the same. `segment` must be a transport stream of ffmpeg: throws if its last packet is truncated, or its stream is too short to split.
 */
export function completeCounters(segment: Buffer): Buffer {
  const packets = packetsOf(segment);
  for (const pid of new Set(packets.map(pidOf))) {
    const last = packets.findLast((packet) => isCounted(packet, pid));
    if (last === undefined) continue;
    const missing = LAST_COUNTER - counterOf(last);
    if (pid === STREAM_PID) spreadStream(packets, missing);
    else for (let at = 1; at <= missing; at += 1) packets.push(withCounter(last, counterOf(last) + at));
  }
  return Buffer.concat(packets);
}

/**
 * Renumbers the counters of each PID of a segment, so that they continue those of the segment before it, or so that those of the segment after
 * it continue them.
 */
export function joinCounters(segment: Buffer, neighbour: { after: Buffer } | { before: Buffer }): Buffer {
  const copy = Buffer.from(segment);
  const packets = packetsOf(copy);
  const others = packetsOf('after' in neighbour ? neighbour.after : neighbour.before);
  const shifts = new Map<number, number>();
  for (const pid of new Set(packets.map(pidOf))) {
    const counted = (packet: Buffer) => isCounted(packet, pid);
    const [last, first] =
      'after' in neighbour
        ? [others.findLast(counted), packets.find(counted)]
        : [packets.findLast(counted), others.find(counted)];
    if (last === undefined || first === undefined) continue;
    const gap = counterOf(last) + 1 - counterOf(first);
    shifts.set(pid, 'after' in neighbour ? gap : -gap);
  }
  for (const packet of packets)
    setCounter(packet, (counterOf(packet) + (shifts.get(pidOf(packet)) ?? 0)) & LAST_COUNTER);
  return copy;
}

function packetsOf(segment: Buffer): Buffer[] {
  if (segment.length % PACKET_BYTES !== 0) throw new Error('The last packet of a segment is truncated');
  return Array.from({ length: segment.length / PACKET_BYTES }, (_, at) =>
    segment.subarray(at * PACKET_BYTES, (at + 1) * PACKET_BYTES),
  );
}

/** Adds packets to the stream: splits the last ones, and numbers those after the first split. */
function spreadStream(packets: Buffer[], count: number): void {
  let missing = count;
  let at = packets.length;
  while (missing > 0) {
    at = packets.findLastIndex((packet, index) => index < at && isCounted(packet, STREAM_PID));
    const packet = packets[at];
    if (packet === undefined) throw new Error('A segment is too small to complete its counters');
    const parts = split(packet, missing + 1);
    packets.splice(at, 1, ...parts);
    missing -= parts.length - 1;
  }
  let counter: number | undefined;
  for (; at < packets.length; at += 1) {
    const packet = packets[at];
    if (packet === undefined || !isCounted(packet, STREAM_PID)) continue;
    counter = counter === undefined ? counterOf(packet) : (counter + 1) % (LAST_COUNTER + 1);
    packets[at] = withCounter(packet, counter);
  }
}

/** Divides the payload of a packet over several packets, at most as many as it has bytes for. A PES header stays whole. */
function split(packet: Buffer, wanted: number): Buffer[] {
  const { adaptation, payload } = contentOf(packet);
  // A PES header has 9 fixed bytes (start code, stream id, length, flags, length of the rest), then the rest.
  const undivided = startsUnit(packet) ? 9 + payload.readUInt8(8) : 1;
  const parts = Math.max(1, Math.min(wanted, 1 + payload.length - undivided));
  const share = Math.max(1, Math.floor((payload.length - undivided) / parts));
  const first = payload.length - (parts - 1) * share;
  return Array.from({ length: parts }, (_, at) =>
    at === 0
      ? packetWith(packet, adaptation, payload.subarray(0, first))
      : packetWith(
          withoutStart(packet),
          Buffer.alloc(0),
          payload.subarray(first + (at - 1) * share).subarray(0, share),
        ),
  );
}

/** A packet with the header of another one. Stuffing in its adaptation field makes up for a short payload. */
function packetWith(header: Buffer, adaptation: Buffer, payload: Buffer): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES, STUFFING);
  header.copy(packet, 0, 0, HEADER_BYTES);
  const space = MAX_PAYLOAD_BYTES - payload.length;
  packet.writeUInt8((header.readUInt8(3) & 0x0f) | HAS_PAYLOAD | (space > 0 ? HAS_ADAPTATION : 0), 3);
  if (space > 0) packet.writeUInt8(space - 1, HEADER_BYTES);
  // Without flags, an adaptation field has stuffing only.
  if (space > 1) packet.writeUInt8(0, HEADER_BYTES + 1);
  adaptation.copy(packet, HEADER_BYTES + 1);
  payload.copy(packet, PACKET_BYTES - payload.length);
  return packet;
}

/** The adaptation field without its length, and the payload. */
function contentOf(packet: Buffer): { adaptation: Buffer; payload: Buffer } {
  if ((packet.readUInt8(3) & HAS_ADAPTATION) === 0) {
    return { adaptation: Buffer.alloc(0), payload: packet.subarray(HEADER_BYTES) };
  }
  const begin = HEADER_BYTES + 1 + packet.readUInt8(HEADER_BYTES);
  return { adaptation: packet.subarray(HEADER_BYTES + 1, begin), payload: packet.subarray(begin) };
}

/** Whether a packet is of a PID and has a payload: other packets repeat the counter of the previous one. */
function isCounted(packet: Buffer, pid: number): boolean {
  return pidOf(packet) === pid && (packet.readUInt8(3) & HAS_PAYLOAD) !== 0;
}

function startsUnit(packet: Buffer): boolean {
  return (packet.readUInt8(1) & STARTS_UNIT) !== 0;
}

function withoutStart(packet: Buffer): Buffer {
  const copy = Buffer.from(packet);
  copy.writeUInt8(packet.readUInt8(1) & ~STARTS_UNIT & 0xff, 1);
  return copy;
}

function counterOf(packet: Buffer): number {
  return packet.readUInt8(3) & LAST_COUNTER;
}

function withCounter(packet: Buffer, counter: number): Buffer {
  const copy = Buffer.from(packet);
  setCounter(copy, counter);
  return copy;
}

function setCounter(packet: Buffer, counter: number): void {
  packet.writeUInt8((packet.readUInt8(3) & ~LAST_COUNTER) | counter, 3);
}
