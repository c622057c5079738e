import { describe, expect, test } from '@jest/globals';
import { AAC } from '../../encoders/aac/aac.ts';
import {
  elementaryStream,
  firstTimestamp,
  isTransportStream,
  KeyFrames,
  StreamEnd,
} from './transport-stream.ts';

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

/** A packet of the stream with more of its last PES packet, behind stuffing. */
function continuation(payload: string): Buffer {
  const bytes = Buffer.from(payload, 'hex');
  const stuffing = 188 - 4 - 1 - bytes.length;
  return Buffer.concat([
    Buffer.from([0x47, 0x01, 0x00, 0x30, stuffing]),
    Buffer.alloc(stuffing, 0xff),
    bytes,
  ]);
}

/** A packet of the stream that has an adaptation field and no payload. */
const CLOCK_ONLY = Buffer.concat([Buffer.from([0x47, 0x01, 0x00, 0x20, 183]), Buffer.alloc(183, 0xff)]);

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
    expect(elementaryStream(Buffer.concat([TABLE, segment.subarray(188, 200)]))).toHaveLength(0);
  });

  test('may continue its payload in packets with and without stuffing, or have packets without payload', () => {
    const full = Buffer.concat([Buffer.from([0x47, 0x01, 0x00, 0x10]), Buffer.alloc(184, 4)]);
    const segment = Buffer.concat([
      packet(0x100, '2100010001', '01'),
      continuation('0203'),
      CLOCK_ONLY,
      full,
    ]);
    expect(elementaryStream(segment)).toEqual(Buffer.concat([Buffer.from([1, 2, 3]), Buffer.alloc(184, 4)]));
  });

  test('is recognized by its first packet', () => {
    expect(isTransportStream(TABLE)).toBe(true);
    expect(isTransportStream(TABLE.subarray(1))).toBe(false);
    expect(isTransportStream(TABLE.subarray(0, 187))).toBe(false);
    expect(isTransportStream(Buffer.alloc(188))).toBe(false);
  });

  test.each([
    ['2100010001', 0],
    ['21003ebf61', 1_040_304 / 90_000],
    ['2fffffffff', (2 ** 33 - 1) / 90_000],
  ])('begins at the time of its first access unit, %s', (time, expected) => {
    expect(firstTimestamp(Buffer.concat([TABLE, packet(0x100, time, '01')]))).toBe(expected);
  });

  test('may begin without an adaptation field', () => {
    const withStuffing = packet(0x100, timeOf(10), '01');
    const pes = withStuffing.subarray(5 + withStuffing.readUInt8(4));
    const withoutStuffing = [Buffer.from([0x47, 0x41, 0x00, 0x10]), pes, Buffer.alloc(184 - pes.length)];
    expect(firstTimestamp(Buffer.concat(withoutStuffing))).toBe(10);
  });

  test('without a timestamp is refused', () => {
    expect(() => firstTimestamp(TABLE)).toThrow('does not begin with a timestamp');
    expect(() => firstTimestamp(packet(0x100, '', '01'))).toThrow('does not begin with a timestamp');
  });
});

/** The time in hex of a number of seconds below three hours (ISO/IEC 13818-1 §2.4.3.7). */
function timeOf(seconds: number): string {
  const ticks = Math.round(seconds * 90_000);
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(0x21);
  bytes.writeUInt16BE((Math.floor(ticks / 2 ** 15) << 1) | 1, 1);
  bytes.writeUInt16BE(((ticks % 2 ** 15) << 1) | 1, 3);
  return bytes.toString('hex');
}

/** Reads packets in chunks of a size. */
function endOf(kind: 'video' | 'audio', packets: Buffer[], chunkBytes = 100): number {
  const end = new StreamEnd(kind === 'audio' ? AAC.reader.elementary : {});
  const bytes = Buffer.concat(packets);
  for (let at = 0; at < bytes.length; at += chunkBytes) end.push(bytes.subarray(at, at + chunkBytes));
  return end.seconds();
}

describe('the end of video', () => {
  test.each([1, 100, 188, 10_000])('is the time of its last frame, in chunks of %s bytes', (chunkBytes) => {
    const times = [10, 10.12, 10.04, 10.08];
    const frames = times.map((time) => packet(0x100, timeOf(time), '01'));
    expect(endOf('video', [TABLE, ...frames, continuation('ff'), TABLE], chunkBytes)).toBe(10.12);
  });

  test('does not need a timestamp at every frame', () => {
    expect(endOf('video', [packet(0x100, timeOf(10), '01'), packet(0x100, '', '01')])).toBe(10);
  });

  test('is refused without timestamps or without sync bytes', () => {
    expect(() => endOf('video', [TABLE])).toThrow('no timestamp');
    expect(() => endOf('video', [packet(0x100, '', '01')])).toThrow('no timestamp');
    expect(() => endOf('video', [TABLE, Buffer.alloc(188)])).toThrow('packet is missing');
  });

  test('does not depend on the size of a PES packet', () => {
    const long = Array.from({ length: 500 }, () => continuation('ff'.repeat(180)));
    expect(endOf('video', [packet(0x100, timeOf(10), '01'), ...long])).toBe(10);
  });
});

/** A complete ADTS frame in hex. */
function adtsFrame({ rateIndex = 3, blocks = 1, bytes = 9, flags = 0xf1 } = {}): string {
  const header = Buffer.from([0xff, flags, 0x40 | (rateIndex << 2), 0, 0, 0, blocks - 1]);
  header.writeUIntBE(bytes << 5, 3, 3);
  return Buffer.concat([header, Buffer.alloc(bytes - 7)]).toString('hex');
}

describe('the end of audio', () => {
  const start = (payload: string, seconds = 10) => packet(0x100, timeOf(seconds), payload);

  test.each([
    ['one frame', adtsFrame(), 1024 / 48_000],
    ['frames of several sizes', adtsFrame() + adtsFrame({ bytes: 40 }), 2048 / 48_000],
    ['44.1 kHz', adtsFrame({ rateIndex: 4 }), 1024 / 44_100],
    ['96 kHz', adtsFrame({ rateIndex: 0 }), 1024 / 96_000],
    ['several blocks in a frame', adtsFrame({ blocks: 3 }), 3072 / 48_000],
    ['a frame without data', adtsFrame({ bytes: 7 }), 1024 / 48_000],
    ['a frame with a checksum', adtsFrame({ flags: 0xf0 }), 1024 / 48_000],
  ])('is the end of its last frame: %s', (_, frames, seconds) => {
    expect(endOf('audio', [start(frames)])).toBeCloseTo(10 + seconds, 9);
  });

  test('counts the frames of the last PES packet, which may span several transport packets', () => {
    const frame = adtsFrame({ bytes: 300 });
    const [head, rest] = [frame.slice(0, 300), frame.slice(300)];
    const packets = [
      start(adtsFrame() + adtsFrame()),
      TABLE,
      start(head, 11),
      TABLE,
      CLOCK_ONLY,
      continuation(rest),
    ];
    expect(endOf('audio', packets)).toBeCloseTo(11 + 1024 / 48_000, 9);
  });

  test.each([
    ['the last frame ends within its data', adtsFrame({ bytes: 40 }).slice(0, 60)],
    ['the last frame ends within its header', adtsFrame() + adtsFrame().slice(0, 12)],
    ['other data follows the last frame', `${adtsFrame()}00${adtsFrame().slice(2)}`],
  ])('is refused if %s', (_, frames) => {
    expect(() => endOf('audio', [start(frames)])).toThrow('last audio frame is incomplete');
  });

  test('allows no PES packet of more than 64 KiB', () => {
    const packets = Array.from({ length: 364 }, () => continuation('ff'.repeat(180)));
    const longest = [start(''), ...packets, continuation('ff'.repeat(16))];
    expect(() => endOf('audio', [...longest, start(adtsFrame(), 11)])).not.toThrow();
    expect(() => endOf('audio', [...longest, continuation('ff')])).toThrow('PES packet is too long');
  });
});

test('the PES packets of a stream are counted', () => {
  const end = new StreamEnd({});
  end.push(
    Buffer.concat([TABLE, packet(0x100, timeOf(10), '01'), continuation('02'), packet(0x100, '', '03')]),
  );
  expect(end.pesPackets).toBe(2);
});

describe('the key frames of a segment', () => {
  const PROGRAMS = packet(0, '', '0a');
  const RANDOM_ACCESS = 0x40;

  /** The start of an access unit. `flags` are those of its adaptation field. */
  function frame(seconds: number | null, flags: number): Buffer {
    const start = packet(0x100, seconds === null ? '' : timeOf(seconds), '01');
    start.writeUInt8(flags, 5);
    return start;
  }

  function keyFramesOf(packets: Buffer[], { minSeconds = 0, chunkBytes = 100 } = {}) {
    const reader = new KeyFrames(minSeconds);
    const bytes = Buffer.concat(packets);
    for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
    return reader.end();
  }

  test.each([1, 100, 188, 10_000])(
    'are transport streams with the first tables of the segment, in chunks of %s bytes',
    (chunkBytes) => {
      const otherTable = packet(0x1000, '', '0b');
      const otherStream = packet(0x101, timeOf(10), '0c');
      const first = frame(10, RANDOM_ACCESS);
      const second = frame(12, RANDOM_ACCESS | 0x10);
      const packets = [
        ...[PROGRAMS, TABLE, first, otherTable, otherStream, continuation('02'), CLOCK_ONLY],
        ...[frame(11, 0), continuation('03'), second],
      ];
      expect(keyFramesOf(packets, { chunkBytes })).toEqual([
        { start: 10, stream: Buffer.concat([PROGRAMS, TABLE, first, continuation('02'), CLOCK_ONLY]) },
        { start: 12, stream: Buffer.concat([PROGRAMS, TABLE, second]) },
      ]);
    },
  );

  test('are the access units with the random access indicator and a timestamp', () => {
    const withoutAdaptation = frame(13, RANDOM_ACCESS);
    withoutAdaptation.writeUInt8(0x10, 3);
    const emptyAdaptation = frame(14, RANDOM_ACCESS);
    emptyAdaptation.writeUInt8(0, 4);
    const others = [frame(11, 0xff & ~RANDOM_ACCESS), withoutAdaptation, emptyAdaptation];
    const found = keyFramesOf([frame(null, RANDOM_ACCESS), frame(10, RANDOM_ACCESS), ...others]);
    expect(found.map(({ start }) => start)).toEqual([10]);
    expect(keyFramesOf([PROGRAMS, TABLE, continuation('02')])).toEqual([]);
  });

  test('have a minimum distance, with room for rounding', () => {
    const times = [0, 0.4, 0.4995, 0.6, 0.98, 1];
    const found = keyFramesOf(
      times.map((time) => frame(time, RANDOM_ACCESS)),
      { minSeconds: 0.5 },
    );
    expect(found.map(({ start }) => start)).toEqual([0, expect.closeTo(0.4995, 4), 1]);
    const close = [0, 0.5].map((time) => frame(time + 10, RANDOM_ACCESS));
    expect(keyFramesOf(close, { minSeconds: 0.502 })).toHaveLength(1);
  });
});
