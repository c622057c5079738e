import { describe, expect, test } from '@jest/globals';
import { elementaryStream, firstTimestamp } from './transport-stream.ts';

/** A packet with the start of a PES packet: its timestamp in hex, and its payload behind stuffing. */
function packet(pid: number, time: string, payload: string): Buffer {
  const pes = Buffer.from(
    `000001e0000080${time === '' ? '00' : '80'}05${time.padEnd(10, 'f')}${payload}`,
    'hex',
  );
  const stuffing = 188 - 4 - 1 - pes.length;
  const header = Buffer.from([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x30, stuffing]);
  return Buffer.concat([header, Buffer.alloc(stuffing, 0xff), pes]);
}

const TABLE = packet(0x1000, '2100010001', 'ffff');

describe('a transport stream', () => {
  test('contains the payloads of its stream', () => {
    const segment = Buffer.concat([
      TABLE,
      packet(0x100, '2100010001', '0102'),
      TABLE,
      packet(0x100, '2100010001', '03'),
    ]);
    expect(elementaryStream(segment)).toEqual(Buffer.from([1, 2, 3]));
    expect(() => elementaryStream(Buffer.alloc(188))).toThrow('No transport stream packet at byte 0');
  });

  test.each([
    ['2100010001', 0],
    ['21003ebf61', 1_040_304 / 90_000],
    ['2fffffffff', (2 ** 33 - 1) / 90_000],
  ])('begins at the time of its first access unit, %s', (time, expected) => {
    expect(firstTimestamp(Buffer.concat([TABLE, packet(0x100, time, '01')]))).toBe(expected);
  });

  test('without a timestamp is refused', () => {
    expect(() => firstTimestamp(TABLE)).toThrow('does not begin with a timestamp');
    expect(() => firstTimestamp(packet(0x100, '', '01'))).toThrow('does not begin with a timestamp');
  });
});
