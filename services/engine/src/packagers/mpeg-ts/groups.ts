import type { ElementaryReader } from '../../encoders/stream-reader.ts';
import type { GroupOfPictures } from '../packager.ts';
import {
  elementaryStream,
  firstTimestamp,
  isRandomAccessPoint,
  PACKET_BYTES,
  pidOf,
  STREAM_PID,
  startsUnit,
} from './transport-stream.ts';

/** See Packager. */
export function groupsOf(
  segment: Buffer,
  { isDecodable }: Pick<ElementaryReader, 'isDecodable'>,
): GroupOfPictures[] {
  if (segment.length % PACKET_BYTES !== 0) throw new Error('The last packet of a segment is truncated');
  const units = unitsOf(segment);
  const firsts = units.filter((unit) => unit.isKey && isDecodable(elementaryStream(bytesOf(segment, unit))));
  const begins = firsts.map((unit) => beginOf(segment, unit.at));
  if (begins[0] !== 0) throw new Error('Decoding cannot start at the beginning of a segment');
  return firsts.map((first, at) => {
    const end = firsts[at + 1]?.at ?? segment.length;
    return {
      start: firstTimestamp(segment.subarray(first.at)),
      units: units.filter((unit) => unit.at >= first.at && unit.at < end).length,
      segment: withTables(segment.subarray(begins[at], begins[at + 1]), segment),
    };
  });
}

/** An access unit: the positions of its first packet and of the packet after it. */
type Unit = { at: number; end: number; isKey: boolean };

function unitsOf(segment: Buffer): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    const packet = segment.subarray(at, at + PACKET_BYTES);
    if (!startsUnit(packet)) continue;
    const previous = units.at(-1);
    if (previous !== undefined) previous.end = at;
    units.push({ at, end: segment.length, isKey: isRandomAccessPoint(packet) });
  }
  return units;
}

function bytesOf(segment: Buffer, { at, end }: Unit): Buffer {
  return segment.subarray(at, end);
}

/** Where a group begins: at the tables before its first packet. */
function beginOf(segment: Buffer, first: number): number {
  let begin = first;
  while (begin > 0 && pidOf(segment.subarray(begin - PACKET_BYTES)) !== STREAM_PID) begin -= PACKET_BYTES;
  return begin;
}

/** A group, and before it the tables of its segment if it has none. */
function withTables(group: Buffer, segment: Buffer): Buffer {
  if (pidOf(group) !== STREAM_PID) return group;
  const tables: Buffer[] = [];
  for (let at = 0; at < segment.length && pidOf(segment.subarray(at)) !== STREAM_PID; at += PACKET_BYTES)
    tables.push(segment.subarray(at, at + PACKET_BYTES));
  return Buffer.concat([...tables, group]);
}
