import { describe, expect, test } from '@jest/globals';
import { COMMON_RATES } from './frame-rate.ts';
import { PacketTimeline } from './packet-timeline.ts';

type Packet = [pts: number, dts: number, duration: number];

function measure(packets: Packet[], { startTime = 0 } = {}) {
  const timeline = new PacketTimeline(startTime);
  for (const packet of packets) timeline.add(...packet);
  return timeline.result();
}

const steady = (count: number, from = 0): Packet[] =>
  Array.from({ length: count }, (_, at) => [from + at * 0.04, from + at * 0.04, 0.04]);

describe('a timeline', () => {
  test('ends with the last displayed frame, even if it is not the last stored', () => {
    const packets: Packet[] = [
      [0, -0.08, 0.04],
      [0.12, -0.04, 0.04],
      [0.04, 0, 0.04],
      [0.08, 0.04, 0.04],
    ];
    expect(measure(packets)).toEqual({
      cut: 0,
      frames: 4,
      start: 0,
      duration: expect.closeTo(0.16),
      averageRate: expect.closeTo(25),
      grid: { numerator: 25, denominator: 1 },
      losses: expect.any(Array),
    });
  });

  const at = (rate: number, numbers: number[], digits = 9): Packet[] =>
    numbers.map((number) => {
      const time = Number((number / rate).toFixed(digits));
      return [time, time, 0.02];
    });

  test.each([
    ['a variable rate on a grid', at(60, [0, 2, 3, 5, 9, 10, 11, 17, 300, 601]), 60],
    ['a grid in milliseconds', at(60, [0, 2, 3, 5, 9, 10, 11, 17, 300, 601], 3), 60],
    ['a constant rate, which also matches finer grids', at(30, [0, 1, 2, 3, 4, 5, 600]), 30],
    ['a rate above all grids', at(120, [0, 1, 2, 3, 4, 5, 600]), null],
    ['irregular times', at(1, [0, 0.021, 0.057, 0.1, 0.143, 0.16, 3.217]), null],
  ])('finds the grid of %s', (_, packets, rate) => {
    expect(measure(packets)?.grid).toEqual(rate && { numerator: rate, denominator: 1 });
  });

  test.each(COMMON_RATES)('finds the grid of $numerator/$denominator frames a second', (rate) => {
    const packets = at(rate.numerator / rate.denominator, [0, 1, 2, 3, 5, 7, 600]);
    expect(measure(packets)?.grid).toEqual(rate);
  });

  test('finds a grid that begins with the first frame', () => {
    expect(measure(steady(25, 10.013))?.grid).toEqual({ numerator: 25, denominator: 1 });
  });

  test('counts from the earliest timestamp of the file', () => {
    expect(measure(steady(25, 11), { startTime: 10 })).toMatchObject({
      start: expect.closeTo(1),
      duration: expect.closeTo(2),
      averageRate: expect.closeTo(25),
    });
  });

  test('gives the last frame the average duration if durations are unknown', () => {
    const packets = steady(25).map(([pts]): Packet => [pts, Number.NaN, Number.NaN]);
    expect(measure(packets)).toMatchObject({ duration: expect.closeTo(1), averageRate: expect.closeTo(25) });
  });

  test('has the rate of the other frames if the last has nearly no duration', () => {
    const packets = steady(25).map(([pts, dts], at): Packet => [pts, dts, at === 24 ? 0.00001 : 0.04]);
    expect(measure(packets)).toMatchObject({
      duration: expect.closeTo(0.96),
      averageRate: expect.closeTo(25),
    });
  });

  test('ends with the last frame even if only the first has a presentation timestamp', () => {
    const packets = steady(25).map(([, dts], at): Packet => [at === 0 ? 0.04 : Number.NaN, dts, 0.04]);
    expect(measure(packets, { startTime: 0.04 })).toEqual({
      cut: 0,
      frames: 25,
      start: expect.closeTo(0),
      duration: expect.closeTo(1),
      averageRate: expect.closeTo(25),
      grid: { numerator: 25, denominator: 1 },
      losses: expect.any(Array),
    });
  });

  test('ends with the last displayed frame of a program stream even if that frame has no presentation timestamp', () => {
    const packets: Packet[] = [
      [0.04, 0, 0.04],
      [0.16, 0.04, 0.04],
      [0.08, 0.08, 0.04],
      [0.12, 0.12, 0.04],
      [Number.NaN, 0.16, 0.04],
      [0.2, 0.2, 0.04],
      [0.24, 0.24, 0.04],
    ];
    expect(measure(packets)).toMatchObject({ start: 0.04, duration: expect.closeTo(0.32) });
  });

  test('knows the frames and the end so far', () => {
    const timeline = new PacketTimeline(10);
    for (const packet of steady(25, 11)) timeline.add(...packet);
    expect([timeline.packets, timeline.end]).toEqual([25, expect.closeTo(2)]);
  });

  describe('with hidden packets', () => {
    /** Two edits, of 1.01 and one second of 25 frames a second, with the packets that an edit list hides. */
    const edits = (hide: (timeline: PacketTimeline, pts: number) => void, startTime = 0) => {
      const timeline = new PacketTimeline(startTime);
      for (const pts of [-0.08, -0.04]) hide(timeline, pts);
      for (const packet of steady(26)) timeline.add(...packet);
      for (const pts of [1.04, 0.97]) hide(timeline, pts);
      for (const packet of steady(25, 1.01)) timeline.add(...packet);
      hide(timeline, 2.01);
      return timeline;
    };
    const hidden = edits((timeline, pts) => timeline.addHidden(pts));

    test('counts what is displayed, at its own rate', () => {
      const rate = { numerator: 25, denominator: 1 };
      expect(hidden.result()).toEqual({
        cut: 0,
        frames: 51,
        start: 0,
        duration: expect.closeTo(2.01),
        averageRate: expect.closeTo(25),
        grid: rate,
        // The frames of the second edit have frame times of their own.
        losses: expect.arrayContaining([{ rate, phase: 0, lost: 0, crowded: 0 }]),
      });
      expect(hidden.packets).toBe(56);
    });

    test('knows which have times of displayed ones', () => {
      expect(hidden.hidesWithin).toBe(true);
      const single = new PacketTimeline(0);
      expect(single.hidesAll).toBe(false);
      single.addHidden(-0.04);
      expect(single.hidesAll).toBe(true);
      for (const packet of steady(25)) single.add(...packet);
      single.addHidden(1);
      expect([single.hidesAll, single.hidesWithin]).toEqual([false, false]);
      single.addHidden(0.5);
      expect(single.hidesWithin).toBe(true);
    });

    test('begins after those before zero, which ffmpeg displays if the file is fragmented', () => {
      const timeline = new PacketTimeline(-2, null, true);
      timeline.addHidden(-2);
      for (const packet of steady(25)) timeline.add(...packet);
      expect(timeline.result()).toMatchObject({ cut: 2, start: 2, duration: expect.closeTo(3), frames: 25 });
      const audioHidden = new PacketTimeline(-2, null, true);
      for (const packet of steady(25)) audioHidden.add(...packet);
      expect(audioHidden.result()).toMatchObject({ cut: 2, start: 2 });
      expect(measure(steady(25), { startTime: -2 })).toMatchObject({ cut: 0, start: 2 });
    });
  });

  test('counts a frame without a timestamp', () => {
    const packets: Packet[] = [...steady(25), [Number.NaN, Number.NaN, 0.04]];
    expect(measure(packets)).toMatchObject({ frames: 26, duration: expect.closeTo(1) });
  });

  test('ignores negative durations', () => {
    const packets = steady(25).map(([pts, dts]): Packet => [pts, dts, -5]);
    expect(measure(packets)).toMatchObject({ duration: expect.closeTo(1) });
  });

  test('of a single frame lasts as long as the frame', () => {
    expect(measure(steady(1))).toMatchObject({ frames: 1, duration: 0.04, averageRate: expect.closeTo(25) });
  });

  test('is null without timestamps', () => {
    expect(measure([])).toBeNull();
    expect(measure([[Number.NaN, Number.NaN, Number.NaN]])).toBeNull();
  });
});
