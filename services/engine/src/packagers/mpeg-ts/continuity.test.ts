import { describe, expect, test } from '@jest/globals';
import { completeCounters } from './continuity.ts';
import { elementaryStream, firstTimestamp, PACKET_BYTES, pidOf } from './transport-stream.ts';

const TABLE = 0x1000;
const STREAM = 0x100;
/** A PES header with a timestamp of one second, as video has it. */
const PES_HEADER = [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 0x05, 0xbf, 0x21];

type Part = { pid: number; counter: number; starts?: boolean; payload: readonly number[]; flags?: number };

/** A packet that stuffing fills up. */
function packet({ pid, counter, starts = false, payload, flags = 0 }: Part): Buffer {
  const space = 184 - payload.length;
  const adaptation =
    space === 0 ? [] : space === 1 ? [0] : [space - 1, flags, ...Array(space - 2).fill(0xff)];
  const control = 0x10 | (space > 0 ? 0x20 : 0) | counter;
  return Buffer.from([
    0x47,
    (starts ? 0x40 : 0) | (pid >> 8),
    pid & 0xff,
    control,
    ...adaptation,
    ...payload,
  ]);
}

const bytes = (count: number) => Array.from({ length: count }, (_, at) => at % 251);
const table = (counter: number) => packet({ pid: TABLE, counter, starts: true, payload: bytes(184) });
const frame = (counter: number, count: number, flags = 0x40) =>
  packet({ pid: STREAM, counter, starts: true, payload: [...PES_HEADER, ...bytes(count)], flags });
const rest = (counter: number, count = 184) => packet({ pid: STREAM, counter, payload: bytes(count) });

/** The counters of a PID, in order. */
function countersOf(segment: Buffer, pid: number): number[] {
  const counters: number[] = [];
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    if (pidOf(segment.subarray(at)) === pid) counters.push(segment.readUInt8(at + 3) & 0x0f);
  }
  return counters;
}

/** The sizes of the payloads of a PID, in order. */
function payloadSizesOf(segment: Buffer, pid: number): number[] {
  const sizes: number[] = [];
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    const each = segment.subarray(at, at + PACKET_BYTES);
    const adaptation = (each.readUInt8(3) & 0x20) === 0 ? 0 : 1 + each.readUInt8(4);
    if (pidOf(each) === pid) sizes.push(184 - adaptation);
  }
  return sizes;
}

const upTo15 = (first: number) => Array.from({ length: 16 - first }, (_, at) => first + at);

describe('the completed counters', () => {
  test.each([
    ['a long last packet', [table(3), frame(9, 160), rest(10)], 9],
    ['a short last packet', [table(3), frame(9, 160), rest(10, 3)], 9],
    ['a last packet of one byte', [table(3), frame(1, 170), rest(2, 1)], 1],
    ['a small frame', [table(3), frame(2, 100), frame(3, 4)], 2],
    ['counters that end at 15', [table(15), frame(14, 170), rest(15)], 14],
    ['a last counter of 0', [table(0), frame(15, 170), rest(0)], 15],
  ])('of a segment with %s', (_, packets, first) => {
    const segment = Buffer.concat(packets);
    const completed = completeCounters(segment);
    expect(completed.length % PACKET_BYTES).toBe(0);
    const counters = countersOf(completed, STREAM);
    expect(counters).toEqual(first === 15 ? [15, ...upTo15(0)] : upTo15(first));
    expect(payloadSizesOf(completed, STREAM)).not.toContain(0);
    expect(countersOf(completed, TABLE)).toEqual(upTo15(countersOf(segment, TABLE)[0] ?? 0));
    expect(elementaryStream(completed)).toEqual(elementaryStream(segment));
    expect(firstTimestamp(completed)).toBe(firstTimestamp(segment));
  });

  test('do not count packets without payload', () => {
    const clock = packet({ pid: STREAM, counter: 4, payload: [], flags: 0x10 });
    clock.writeUInt8(0x20 | 4, 3);
    const unused = Buffer.from(clock);
    unused.writeUInt16BE(0x101, 1);
    const completed = completeCounters(Buffer.concat([table(0), frame(3, 160), rest(4), clock, unused]));
    expect(countersOf(completed, STREAM)).toEqual([...upTo15(3), 4]);
    expect(countersOf(completed, 0x101)).toEqual([4]);
  });

  test('divide the last payload evenly', () => {
    const completed = completeCounters(Buffer.concat([table(0), frame(3, 160), rest(4)]));
    expect(payloadSizesOf(completed, STREAM)).toEqual([174, 19, ...Array(11).fill(15)]);
  });

  test('leave the flags at the beginning of a frame', () => {
    const completed = completeCounters(Buffer.concat([table(0), frame(3, 100)]));
    const flags = [];
    for (let at = 0; at < completed.length; at += PACKET_BYTES) {
      const own = completed.subarray(at, at + PACKET_BYTES);
      if (pidOf(own) === STREAM) flags.push([own.readUInt8(1) & 0x40, own.readUInt8(5)]);
    }
    expect(flags).toEqual([[0x40, 0x40], ...Array(12).fill([0, 0])]);
  });

  test('need enough bytes', () => {
    expect(() => completeCounters(Buffer.concat([table(0), frame(3, 2)]))).toThrow('too small');
    expect(() => completeCounters(table(0).subarray(1))).toThrow('truncated');
  });
});
