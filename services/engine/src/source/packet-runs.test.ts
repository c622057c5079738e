import { describe, expect, test } from '@jest/globals';
import { PacketRuns } from './packet-runs.ts';

type Packet = Parameters<PacketRuns['add']>[0];

const PACKET_BYTES = 10;
const START_TIME = 100;

/** The nth packet of a track with one packet a second. */
function packet(n: number, changes: Partial<Packet> = {}): Packet {
  const time = START_TIME + n;
  return { pts: time, dts: time, at: n * PACKET_BYTES, bytes: PACKET_BYTES, isKey: false, ...changes };
}

function runsOf(packets: Packet[]) {
  const runs = new PacketRuns(START_TIME);
  for (const each of packets) runs.add(each);
  return runs.result();
}

/** The numbers of packets in the runs of a track whose nth packet is a key frame if `isKey`. */
function sizesOf(packets: number, isKey: (n: number) => boolean) {
  const track = Array.from({ length: packets }, (_, n) => packet(n, { isKey: isKey(n) }));
  return runsOf(track)?.map((run) => run.packets);
}

describe('the runs of a track', () => {
  test('have their times and positions', () => {
    const track = Array.from({ length: 18 }, (_, n) => packet(n, { isKey: n % 10 === 0 }));
    expect(runsOf(track)).toEqual([
      { keyTime: 0, earliest: 0, packets: 10, start: 0, end: 100 },
      { keyTime: 10, earliest: 10, packets: 8, start: 100, end: 180 },
    ]);
  });

  test('do not exist for a track without packets', () => {
    expect(runsOf([])).toBeNull();
  });

  test.each([
    ['key frames only', 20, () => true, [8, 8, 4]],
    ['a key frame every seven packets', 28, (n: number) => n % 7 === 0, [14, 14]],
    ['a key frame every eight packets', 24, (n: number) => n % 8 === 0, [8, 8, 8]],
    ['a single key frame', 70, (n: number) => n === 0, [32, 32, 6]],
    ['a key frame every 40 packets', 80, (n: number) => n % 40 === 0, [32, 8, 32, 8]],
  ])('begin with key frames, and are not too long: %s', (_, packets, isKey, sizes) => {
    expect(sizesOf(packets, isKey)).toEqual(sizes);
  });

  test('have no time of a key frame if they begin with another packet', () => {
    expect(runsOf([packet(0), packet(1, { isKey: true })])).toMatchObject([{ keyTime: null, packets: 2 }]);
  });

  test.each([
    ['presentation after decoding', 5, 3],
    ['decoding after presentation', 3, 5],
  ])('have the later timestamp of their key frame: %s', (_, pts, dts) => {
    const key = packet(0, { pts: START_TIME + pts, dts: START_TIME + dts, isKey: true });
    expect(runsOf([key])).toMatchObject([{ keyTime: 5, earliest: pts }]);
  });

  test('have the earliest presentation and all bytes, also if the packets are in another order', () => {
    const later = packet(2, { at: 500, bytes: 50 });
    expect(runsOf([packet(1), later, packet(0)])).toMatchObject([{ earliest: 0, start: 0, end: 550 }]);
    expect(runsOf([later, packet(0), packet(1)])).toMatchObject([{ earliest: 0, start: 0, end: 550 }]);
  });

  test.each(['pts', 'dts', 'at', 'bytes'])('are unknown if the %s of any packet is', (unknown) => {
    expect(runsOf([packet(0), packet(1, { [unknown]: Number.NaN }), packet(2)])).toBeNull();
  });
});
