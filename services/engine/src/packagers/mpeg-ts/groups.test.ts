import { describe, expect, test } from '@jest/globals';
import type { ElementaryReader } from '../../encoders/stream-reader.ts';
import { groupsOf } from './groups.ts';

/** A stream whose key frames begin with 1. Those that begin with 2 need frames before them. */
const READER: Pick<ElementaryReader, 'codecString' | 'isDecodable' | 'configuration'> = {
  codecString: () => '',
  isDecodable: (stream) => stream[0] === 1,
  configuration: () => ({ push: () => {}, found: new Set() }),
};

/** A packet that begins a unit, behind stuffing. */
function packet(pid: number, flags: number, payload: Buffer): Buffer {
  const stuffing = 184 - payload.length - 2;
  const header = [0x47, 0x40 | (pid >> 8), pid & 0xff, 0x30, stuffing + 1, flags];
  return Buffer.concat([Buffer.from(header), Buffer.alloc(stuffing, 0xff), payload]);
}

const table = (number: number) => packet(0x1000, 0, Buffer.from([number]));

/** A frame at a time in 1/45000 s. */
function frame(time: number, content: number, isKey: boolean): Buffer {
  const pes = Buffer.from([0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1, content]);
  pes.writeUInt16BE(time << 1, 12);
  return packet(0x100, isKey ? 0x40 : 0, pes);
}

const rest = Buffer.concat([Buffer.from([0x47, 0x01, 0, 0x10]), Buffer.alloc(184, 7)]);

describe('the groups of pictures of a segment', () => {
  const first = [table(1), frame(0, 1, true), rest, frame(100, 9, false)];
  const second = [table(2), frame(200, 1, true), frame(300, 9, false), frame(400, 2, true), rest];

  test('begin with their tables, at frames that decoding can start at', () => {
    const groups = groupsOf(Buffer.concat([...first, ...second]), READER);
    expect(groups.map(({ segment }) => segment)).toEqual([Buffer.concat(first), Buffer.concat(second)]);
    expect(groups.map(({ units }) => units)).toEqual([2, 3]);
    expect((groups[1]?.start ?? 0) - (groups[0]?.start ?? 0)).toBeCloseTo(200 / 90_000, 9);
  });

  test('get the tables of the segment if they have none', () => {
    const [, ...without] = second;
    const groups = groupsOf(Buffer.concat([...first, ...without]), READER);
    expect(groups[1]?.segment).toEqual(Buffer.concat([table(1), ...without]));
  });

  test('are not read from a segment that decoding cannot start at, or that is truncated', () => {
    expect(() => groupsOf(Buffer.concat([table(1), frame(0, 9, false), ...second]), READER)).toThrow(
      'Decoding cannot start',
    );
    expect(() => groupsOf(Buffer.concat([...first, rest.subarray(1)]), READER)).toThrow('truncated');
    expect(() => groupsOf(Buffer.alloc(0), READER)).toThrow('Decoding cannot start');
  });
});
