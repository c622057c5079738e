import { expect, test } from '@jest/globals';
import { SegmentReader } from './segment-reader.ts';

const [PAT, PMT, VIDEO, AUDIO] = [0, 0x1000, 0x100, 0x101];

/** A packet, with stuffing before its payload. */
function packet(pid: number, counter: number, payload: Buffer): Buffer {
  const stuffing = Buffer.alloc(184 - payload.length, 0xff);
  if (stuffing.length > 0) stuffing[0] = stuffing.length - 1;
  if (stuffing.length > 1) stuffing[1] = 0;
  const control = (stuffing.length > 0 ? 0x30 : 0x10) | counter;
  const head = Buffer.from([0x47, 0x40 | (pid >> 8), pid & 0xff, control]);
  return Buffer.concat([head, stuffing, payload]);
}

/** The pointer_field, then a table with its checksum (ISO/IEC 13818-1 §2.4.4). */
function table(...bytes: number[]): Buffer {
  // What follows the length: the rest and the checksum.
  const length = bytes.length + 3;
  const section = Buffer.from([bytes[0] ?? 0, 0xb0, length, ...bytes.slice(1)]);
  let crc = 0xffffffff;
  for (const byte of section) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc >>> 0);
  return Buffer.concat([Buffer.from([0]), section, checksum]);
}

const TABLES = [
  packet(PAT, 0, table(0, 0, 1, 0xc1, 0, 0, 0, 1, 0xe0 | (PMT >> 8), PMT & 0xff)),
  packet(
    PMT,
    0,
    table(2, 0, 1, 0xc1, 0, 0, 0xe1, 0, 0xf0, 0, 0x1b, 0xe1, 0, 0xf0, 0, 0x0f, 0xe1, 1, 0xf0, 0),
  ),
];

/** A PES packet with a presentation time. */
function pes(pts: number, data: Buffer): Buffer {
  const time = Buffer.from([
    0x21 | ((pts / 2 ** 30) << 1),
    pts >> 22,
    (pts >> 14) | 1,
    pts >> 7,
    (pts << 1) | 1,
  ]);
  return Buffer.concat([Buffer.from([0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5]), time, data]);
}

/** An ADTS frame of AAC-LC, 48 kHz, stereo. */
function adts(bytes: number): Buffer {
  const frame = Buffer.alloc(bytes, 0xaa);
  frame.set([0xff, 0xf1, 0x4c, 0x80 | (bytes >> 11), (bytes >> 3) & 0xff, ((bytes & 7) << 5) | 0x1f, 0xfc]);
  return frame;
}

function read(...packets: Buffer[]) {
  const reader = new SegmentReader();
  // In chunks that do not end with packets.
  const bytes = Buffer.concat(packets);
  for (let at = 0; at < bytes.length; at += 100) reader.push(bytes.subarray(at, at + 100));
  return reader.end();
}

const IDR_FRAME = Buffer.from([0, 0, 0, 1, 9, 0x10, 0, 0, 0, 1, 0x65, 0x88]);

test('an audio frame may begin in one PES packet and end in the next', () => {
  const [first, second, third] = [adts(100), adts(100), adts(60)];
  // The second packet's time is that of the third frame, which is the first to begin in it.
  const { audio, damage } = read(
    ...TABLES,
    packet(AUDIO, 0, pes(90_000, Buffer.concat([first, second.subarray(0, 40)]))),
    packet(AUDIO, 1, pes(90_000 + 3840, Buffer.concat([second.subarray(40), third]))),
  );
  expect(damage).toBeNull();
  expect(audio).toMatchObject({ frames: 3, start: 90_000, end: 90_000 + 3 * 1920, jumps: 0 });
  expect(audio?.config).toEqual({ objectType: 2, sampleRate: 48_000, channels: 2 });
});

test('a jump in the audio is counted, and moves its end', () => {
  const { audio } = read(
    ...TABLES,
    packet(AUDIO, 0, pes(0, adts(100))),
    packet(AUDIO, 1, pes(9000, adts(100))),
  );
  expect(audio).toMatchObject({ jumps: 1, end: 9000 + 1920 });
});

test.each([
  ['consecutive packets', [0, 1, 2], 0],
  ['a packet sent twice', [0, 1, 1, 2], 0],
  ['a packet sent three times', [0, 1, 1, 1], 1],
  ['a packet missing', [0, 1, 3], 1],
  ['wrapping after 15', [14, 15, 0], 0],
])('counters: %s', (_what, counters, breaks) => {
  const { transport } = read(
    ...TABLES,
    ...counters.map((counter, at) => packet(VIDEO, counter, pes(3600 * at, IDR_FRAME))),
  );
  expect(transport?.counters.find(({ pid }) => pid === VIDEO)).toEqual({
    pid: VIDEO,
    first: counters[0],
    last: counters.at(-1),
    breaks,
  });
});

test('video before the program map table is reported', () => {
  const { transport } = read(
    packet(VIDEO, 0, pes(0, IDR_FRAME)),
    ...TABLES,
    packet(VIDEO, 1, pes(3600, IDR_FRAME)),
  );
  expect([transport?.hasPat, transport?.hasPmt]).toEqual([true, false]);
});

test('a clock that wraps within a segment continues', () => {
  const { video } = read(
    ...TABLES,
    packet(VIDEO, 0, pes(2 ** 33 - 3600, IDR_FRAME)),
    packet(VIDEO, 1, pes(0, IDR_FRAME)),
  );
  expect(video).toMatchObject({ earliest: 2 ** 33 - 3600, latest: 2 ** 33, shortestStep: 3600, dtsFalls: 0 });
});

test.each([
  ['an empty segment', Buffer.alloc(0), 'no packets'],
  ['other bytes', Buffer.alloc(400, 1), 'no packet begins at byte 0'],
  [
    'half a packet at the end',
    Buffer.concat([...TABLES, TABLES[0]?.subarray(0, 90) ?? Buffer.alloc(0)]),
    'not a whole packet',
  ],
  [
    'invalid audio',
    Buffer.concat([...TABLES, packet(AUDIO, 0, pes(0, Buffer.alloc(50, 1)))]),
    'does not begin with an ADTS header',
  ],
])('%s is reported as damaged', (_what, bytes, message) => {
  expect(read(bytes).damage).toContain(message);
});

test('what precedes a damaged packet is measured, however the segment is divided into chunks', () => {
  const damaged = Buffer.concat([...TABLES, packet(VIDEO, 0, pes(9000, IDR_FRAME)), Buffer.alloc(188)]);
  const contents = [damaged.length, 188, 7].map((bytes) => {
    const reader = new SegmentReader();
    for (let at = 0; at < damaged.length; at += bytes) reader.push(damaged.subarray(at, at + bytes));
    return reader.end();
  });
  expect(contents[0]).toMatchObject({
    damage: 'no packet begins at byte 564',
    transport: { hasPat: true, hasPmt: true },
  });
  expect(contents[1]).toEqual(contents[0]);
  expect(contents[2]).toEqual(contents[0]);
});
