import { describe, expect, test } from '@jest/globals';
import { PacketRuns } from '../source/packet-runs.ts';
import { PieceBytes } from './piece-bytes.ts';

const FRAME_BYTES = 100;
const HEADER_BYTES = 40;
const RATE = 25;

type Changes = { seconds?: number; keyEvery?: number; delay?: number; startTime?: number };

/** A file of a header and frames, with a key frame each second unless `changes` say otherwise. */
function layoutOf({ seconds = 100, keyEvery = RATE, delay = 0, startTime = 0 }: Changes = {}) {
  const runs = new PacketRuns(startTime);
  const frames = seconds * RATE;
  for (let frame = 0; frame < frames; frame += 1) {
    const dts = startTime + frame / RATE;
    const at = HEADER_BYTES + frame * FRAME_BYTES;
    runs.add({ pts: dts + delay, dts, at, bytes: FRAME_BYTES, isKey: frame % keyEvery === 0 });
  }
  const index = [[0, HEADER_BYTES]] as const;
  return { bytes: HEADER_BYTES + frames * FRAME_BYTES, index, runs: runs.result() ?? [] };
}

/** The range as the numbers of the first frame and of the one after the last. */
const framesOf = ([start, end]: readonly [number, number]) =>
  [start, end].map((at) => (at - HEADER_BYTES) / FRAME_BYTES);

describe('the bytes of a piece', () => {
  test('are the header, the beginning, and the packets from the key frame before the piece to some after it', () => {
    const [head, media, ...rest] = new PieceBytes(layoutOf()).of({ seek: 50, end: 60 }) ?? [];
    expect(rest).toEqual([]);
    // Runs of 25 packets; at least 64 beyond what is needed.
    expect(head).toEqual([0, HEADER_BYTES + 75 * FRAME_BYTES]);
    expect(framesOf(media ?? [0, 0])).toEqual([49 * RATE, 63 * RATE]);
  });

  test('of the first piece begin with the file, those of the last one end with it', () => {
    const layout = layoutOf();
    const [first, ...others] = new PieceBytes(layout).of({ seek: null, end: 10 }) ?? [];
    expect([first, others]).toEqual([[0, HEADER_BYTES + 13 * RATE * FRAME_BYTES], []]);
    const last = new PieceBytes(layout).of({ seek: 90, end: 100 })?.at(-1);
    expect(last).toEqual([HEADER_BYTES + 89 * RATE * FRAME_BYTES, layout.bytes]);
  });

  test.each([
    ['timestamps that do not begin at zero', { startTime: 3 }, 49],
    ['presentation after decoding', { delay: 0.5 }, 49],
    ['key frames ten seconds apart', { keyEvery: 250 }, 40],
    ['key frames only', { keyEvery: 1 }, 49.6],
  ])('allow for %s', (_, changes, second) => {
    const ranges = new PieceBytes(layoutOf(changes)).of({ seek: 50, end: 60 }) ?? [];
    const [first = Number.NaN] = framesOf(ranges.at(-1) ?? [Number.NaN, 0]);
    expect(first / RATE).toBeCloseTo(second);
  });

  test('end 64 packets after the last one of the piece', () => {
    const [, media] = new PieceBytes(layoutOf({ keyEvery: 1 })).of({ seek: 50, end: 64 }) ?? [];
    expect(framesOf(media ?? [0, 0])[1]).toBe(64 * RATE + 64);
  });

  test('are undefined if they are most of the file, many ranges, or outside of the file', () => {
    const layout = layoutOf({ seconds: 20 });
    expect(new PieceBytes(layout).of({ seek: null, end: 12 })).toBeDefined();
    expect(new PieceBytes(layout).of({ seek: null, end: 15 })).toBeUndefined();
    const scattered = (count: number) =>
      Array.from({ length: count }, (_, at) => [20_000 + 2 * at, 20_001 + 2 * at] as const);
    // The beginning and the piece are one range.
    expect(new PieceBytes({ ...layout, index: scattered(63) }).of({ seek: null, end: 1 })).toHaveLength(64);
    expect(new PieceBytes({ ...layout, index: scattered(64) }).of({ seek: null, end: 1 })).toBeUndefined();
    expect(
      new PieceBytes({ ...layout, index: [[-1, HEADER_BYTES]] }).of({ seek: 18, end: 20 }),
    ).toBeUndefined();
    expect(new PieceBytes({ ...layout, bytes: layout.bytes - 1 }).of({ seek: 18, end: 20 })).toBeUndefined();
  });
});

test.each(['pts', 'dts', 'at', 'bytes'])('there are no runs if the %s of a packet is unknown', (unknown) => {
  const runs = new PacketRuns(0);
  const packet = { pts: 0, dts: 0, at: 0, bytes: 100, isKey: true };
  runs.add(packet);
  expect(runs.result()).toHaveLength(1);
  runs.add({ ...packet, [unknown]: Number.NaN });
  expect(runs.result()).toBeNull();
});
