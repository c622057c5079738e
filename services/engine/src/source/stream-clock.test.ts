import { describe, expect, test } from '@jest/globals';
import { StreamClock } from './stream-clock.ts';

const VIDEO = 0;
const AUDIO = 1;
const LATER_TRACK = 2;
const LENGTHS = [0.04, 0.02];

/** `at` is undefined if packets are read in the order of the file. */
type Packet = { index: number; time: number; at?: number };

/** Packets of a track from one second to another. */
function track(index: number, from: number, to: number): Packet[] {
  const length = LENGTHS[index] ?? 1;
  return Array.from({ length: Math.round((to - from) / length) }, (_, at) => ({
    index,
    time: from + at * length,
  }));
}

/** Several tracks as a muxer interleaves them. */
const muxed = (...tracks: Packet[][]) => tracks.flat().sort((a, b) => a.time - b.time);
const both = (from: number, to: number) => muxed(track(VIDEO, from, to), track(AUDIO, from, to));
const moved = (packets: Packet[], seconds: number, index?: number) =>
  packets.map((packet) =>
    index === undefined || index === packet.index ? { ...packet, time: packet.time + seconds } : packet,
  );

/** Reads packets. Returns the corrected end of each track, and what the clock knows. */
function read(packets: Packet[], maxPause?: number) {
  const clock = new StreamClock([VIDEO, AUDIO, LATER_TRACK], maxPause);
  const ends = [Number.NaN, Number.NaN];
  for (const [order, { index, time, at = order }] of packets.entries()) {
    const duration = LENGTHS[index] ?? 1;
    const correction = clock.correction({ index, pts: time, dts: time, duration, at });
    ends[index] = time + correction + duration;
  }
  const { hasRestarted, maxPause: longest, isAmbiguous } = clock;
  return { ends: ends.map((end) => Number(end.toFixed(3))), hasRestarted, maxPause: longest, isAmbiguous };
}

const UNTOUCHED = { hasRestarted: false, maxPause: undefined, isAmbiguous: false };
const RESTARTED = { hasRestarted: true, maxPause: undefined, isAmbiguous: false };

describe('the clock of a stream', () => {
  test.each([
    ['goes on', both(0, 20), [20, 20]],
    ['goes on over a pause of ten seconds in all tracks', [...both(0, 2), ...both(12, 20)], [20, 20]],
    [
      'goes on over a step back of less than a tenth of a second',
      [...both(0, 2), ...both(1.92, 20)],
      [20, 20],
    ],
    ['goes on without one of the tracks', track(VIDEO, 0, 20), [20, Number.NaN]],
    ['goes on if a track begins late', muxed(track(VIDEO, 0, 20), track(AUDIO, 15, 20)), [20, 20]],
  ])('%s', (_, packets, ends) => {
    expect(read(packets)).toEqual({ ...UNTOUCHED, ends });
  });

  test.each([
    ['ahead', 1000],
    ['ahead by little more than ten seconds', 11],
    ['back', -1000],
    ['back by a second', -1],
  ])('restarts where all tracks jump %s', (_, seconds) => {
    const packets = [...both(0, 20), ...moved(both(20, 30), seconds)];
    expect(read(packets)).toEqual({ ...RESTARTED, ends: [30, 30] });
  });

  test('restarts where the only track jumps', () => {
    const packets = [...track(VIDEO, 0, 20), ...track(VIDEO, 100, 110)];
    expect(read(packets)).toEqual({ ...RESTARTED, ends: [30, Number.NaN] });
  });

  test('begins at the start time, even if that is the one of a track after a restart', () => {
    const clock = new StreamClock([VIDEO, AUDIO], undefined, 10);
    const packet = (index: number, time: number) => ({ index, pts: time, dts: time, duration: 0.04, at: 0 });
    const corrected = [packet(VIDEO, 1000), packet(VIDEO, 1000.04), packet(AUDIO, 10)].map(
      (each) => each.dts + clock.correction(each),
    );
    expect(corrected).toEqual([10, 10.04, 10.04].map((time) => expect.closeTo(time)));
    expect(clock.hasRestarted).toBe(true);
  });

  test('restarts several times', () => {
    const packets = [...both(0, 20), ...both(0, 5), ...both(500, 505), ...both(0, 5)];
    expect(read(packets)).toEqual({ ...RESTARTED, ends: [35, 35] });
  });

  test('restarts where the packets of a track come late in the file', () => {
    const packets = [
      ...both(0, 19),
      ...track(VIDEO, 19, 20),
      ...track(VIDEO, 1000, 1001),
      ...track(AUDIO, 19, 20),
    ];
    expect(read([...packets, ...track(AUDIO, 1000, 1001), ...both(1001, 1010)])).toEqual({
      ...RESTARTED,
      ends: [30, 30],
    });
  });

  test.each([
    ['audio', AUDIO],
    ['video', VIDEO],
  ])('makes every track continuous where only the %s jumps and stays apart', (_, index) => {
    for (const seconds of [30, -30]) {
      const packets = [...both(0, 20), ...moved(both(20, 30), seconds, index)];
      const { ends, ...rest } = read(packets);
      expect(rest).toEqual(RESTARTED);
      for (const end of ends) expect(Math.abs(end - 30)).toBeLessThan(0.1);
    }
  });

  test('keeps all tracks together where one of them ends later before a restart', () => {
    const packets = [...muxed(track(VIDEO, 0, 20), track(AUDIO, 0, 20.5)), ...both(0, 10)];
    expect(read(packets)).toEqual({ ...RESTARTED, ends: [30.5, 30.5] });
  });

  test.each([
    ['video', muxed(track(VIDEO, 0, 2), track(VIDEO, 14, 20), track(AUDIO, 0, 20))],
    ['audio', muxed(track(AUDIO, 0, 2), track(AUDIO, 14, 20), track(VIDEO, 0, 20))],
    ['video whose packets come early in the file', [...both(0, 2), ...track(AUDIO, 2, 12), ...both(14, 20)]],
  ])('does not restart where only the %s pauses', (_, packets) => {
    const { ends, maxPause, ...rest } = read(packets);
    expect([ends, rest]).toEqual([[20, 20], { hasRestarted: false, isAmbiguous: false }]);
    expect(maxPause).toBeCloseTo(13, 0);
    // ffmpeg checks the threshold alone.
    expect(read(packets, maxPause)).toMatchObject({ ends: [20, 20], hasRestarted: false });
  });

  test('takes no last packet of a track, delivered at the end of the file, for a pause', () => {
    const packets = [
      ...muxed(track(VIDEO, 0, 19.96), track(AUDIO, 0, 20)),
      ...track(AUDIO, 0, 20),
      ...[{ index: VIDEO, time: 19.96, at: 1400 }],
    ];
    expect(read(packets)).toEqual({ ...RESTARTED, ends: [20, 40] });
  });

  test('restarts in a file with a shorter pause', () => {
    const packets = [
      ...muxed(track(VIDEO, 0, 2), track(VIDEO, 14, 20), track(AUDIO, 0, 20)),
      ...both(1000, 1005),
    ];
    const { maxPause, ...first } = read(packets);
    expect(first).toEqual({ ends: [25, 25], hasRestarted: true, isAmbiguous: false });
    expect(read(packets, maxPause)).toMatchObject({ ends: [25, 25], hasRestarted: true });
  });

  test('takes a jump ahead that is shorter than a pause for a pause of all tracks', () => {
    const packets = [
      ...muxed(track(VIDEO, 0, 2), track(VIDEO, 30, 40), track(AUDIO, 0, 40)),
      ...both(60, 65),
    ];
    const { maxPause, isAmbiguous } = read(packets);
    expect(isAmbiguous).toBe(true);
    expect(read(packets, maxPause)).toEqual({
      ends: [65, 65],
      hasRestarted: false,
      maxPause,
      isAmbiguous: false,
    });
  });

  test('is ambiguous if a track begins further back than usual, but by less than a pause', () => {
    const packets = [
      ...muxed(track(VIDEO, 0, 2), track(VIDEO, 30, 40), track(AUDIO, 0, 40)),
      ...[{ index: LATER_TRACK, time: 25 }],
    ];
    const { maxPause, isAmbiguous } = read(packets);
    expect(isAmbiguous).toBe(true);
    expect(read(packets, maxPause).hasRestarted).toBe(false);
  });

  test.each([
    ['with the others', 20, false],
    ['on a clock that is behind', 0, true],
    ['on a clock that is ahead', 1000, true],
  ])('knows of a track that is not followed and begins %s', (_, time, expected) => {
    const clock = new StreamClock([VIDEO]);
    for (const [at, packet] of [...track(VIDEO, 0, 20), { index: AUDIO, time }].entries())
      clock.correction({ index: packet.index, pts: packet.time, dts: packet.time, duration: 0.04, at });
    expect([AUDIO, LATER_TRACK].map((index) => clock.beginsAfterRestart(index))).toEqual([expected, false]);
  });

  test('does not follow tracks that ffmpeg does not read', () => {
    const clock = new StreamClock([VIDEO]);
    clock.correction({ index: VIDEO, pts: 0, dts: 0, duration: 0.04, at: 0 });
    expect(clock.correction({ index: AUDIO, pts: 1000, dts: 1000, duration: 0.02, at: 1 })).toBe(0);
    expect(clock.hasRestarted).toBe(false);
  });

  test('corrects packets without a decoding time, and without any time', () => {
    const clock = new StreamClock([VIDEO]);
    clock.correction({ index: VIDEO, pts: 20, dts: Number.NaN, duration: Number.NaN, at: 0 });
    expect(clock.correction({ index: VIDEO, pts: 0, dts: Number.NaN, duration: -1, at: 1 })).toBe(20);
    const untimed = { index: VIDEO, pts: Number.NaN, dts: Number.NaN, duration: 0, at: 2 };
    expect(clock.correction(untimed)).toBe(20);
  });
});
