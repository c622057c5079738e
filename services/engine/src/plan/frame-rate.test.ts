import { Random, testSeed } from '@framelane/test-kit/random';
import { describe, expect, test } from '@jest/globals';
import { COMMON_RATES, type FrameRate, toFraction, toNumber } from '../source/frame-rate.ts';
import { PacketTimeline } from '../source/packet-timeline.ts';
import { fieldRate, outputFrameRate, phaseAt } from './frame-rate.ts';

const whole = (rate: number) => ({ numerator: rate, denominator: 1 });
const NTSC = { numerator: 30000, denominator: 1001 };
const FIELDS = { numerator: 60000, denominator: 1001 };

describe('the output frame rate', () => {
  test.each([
    ['the declared rate, if it is constant', 29.97, NTSC, '30000/1001'],
    ['the declared rate, even an unusual one', 12.5, { numerator: 25, denominator: 2 }, '25/2'],
    ['the declared rate, if a few frames are missing', 24.04, whole(25), '25/1'],
    ['the nearest common rate, if the declared rate is absurd', 29.97, whole(90000), '30000/1001'],
    ['the frame rate, if interlaced video declares its field rate', 25, whole(50), '25/1'],
    ['60, if the declared rate is a little more', 60.1, { numerator: 601, denominator: 10 }, '60/1'],
    ['the next higher step, if the declared rate is below the average', 26.4, whole(25), '30/1'],
    ['23.976 and not 24', 23.976, null, '24000/1001'],
    ['24 and not 23.976', 24, null, '24/1'],
    [
      'the next higher step, if the declared rate is an estimate',
      26.4,
      { numerator: 85, denominator: 3 },
      '30/1',
    ],
    [
      'the nearest common rate, if the declared rate is an estimate',
      27.5,
      { numerator: 359, denominator: 12 },
      '30000/1001',
    ],
    ['a step, if the rate varies around it', 15, null, '15/1'],
    ['the next higher step, if the rate varies', 17.3, whole(60), '25/1'],
    ['half the source rate above 60', 119.88, { numerator: 120000, denominator: 1001 }, '120000/2002'],
    ['a third of 144', 144, whole(144), '144/3'],
    ['60 for a camera whose clock is a little fast', 60.1, null, '60/1'],
    ['a multiple of the source rate below 10', 4, whole(4), '12/1'],
    ['a multiple of a fractional rate', 0.9999, { numerator: 1, denominator: 1 }, '10/1'],
  ])('is %s', (_, average, declared, expected) => {
    expect(toFraction(outputFrameRate({ average, declared, grid: null }))).toBe(expected);
  });

  test.each([
    ['the rate of the grid', 32.5, { numerator: 260, denominator: 8 }, whole(60), '60/1'],
    [
      'the rate of the grid, even if the average equals a common rate by chance',
      30,
      whole(30),
      whole(60),
      '60/1',
    ],
    ['the rate of the grid, however few frames are on it', 3.1, whole(60), whole(60), '60/1'],
    ['a multiple of the grid, if that is below 10', 8, whole(8), whole(8), '16/1'],
    ['the declared rate, if the grid has the same rate', 29.97, NTSC, NTSC, '30000/1001'],
  ])('for frames on a grid is %s', (_, average, declared, grid, expected) => {
    expect(toFraction(outputFrameRate({ average, declared, grid }))).toBe(expected);
  });
});

describe('the field rate', () => {
  test.each([
    ['Europe', whole(25), whole(50)],
    ['America', NTSC, FIELDS],
    ['a camera', whole(30), whole(60)],
    ['film with repeated fields', { numerator: 24000, denominator: 1001 }, null],
    ['a rate above the maximum', whole(50), null],
  ])('of %s', (_, frames, fields) => {
    expect(fieldRate(frames)).toEqual(fields);
  });
});

type OutputOptions = { repeatsFields?: boolean; roundedTo?: number };

/** The output rate for frames that last these numbers of periods of a rate, and the frames that are shown at that rate. */
function outputOf(
  grid: FrameRate,
  periods: readonly number[],
  declared: FrameRate | null,
  { repeatsFields = false, roundedTo = 0 }: OutputOptions = {},
) {
  const timeline = new PacketTimeline(0, declared);
  const times = periodsBefore(periods).map((before) => {
    const time = before / toNumber(grid);
    return roundedTo === 0 ? time : Math.round(time / roundedTo) * roundedTo;
  });
  for (const time of inDecodingOrder(times)) timeline.add(time, time, 1 / toNumber(grid));
  const { averageRate: average = Number.NaN, grid: ofFrames = null, losses } = timeline.result() ?? {};
  const rate = outputFrameRate({ average, declared, grid: ofFrames, repeatsFields, losses });
  const phase = phaseAt(rate, losses);
  return {
    rate: toFraction(rate),
    shown: new Set(times.map((time) => Math.round(time * toNumber(rate) + phase))).size,
  };
}

/** Of each four frames after the first, the last is decoded before the others. */
function inDecodingOrder([first = 0, ...others]: number[]): number[] {
  const groups = Array.from({ length: Math.ceil(others.length / 4) }, (_, at) =>
    others.slice(4 * at, 4 * at + 4),
  );
  return [first, ...groups.flatMap((group) => [...group.slice(-1), ...group.slice(0, -1)])];
}

/** The fields that the frames of film last. */
function pulldown(frames: number, first = 0): number[] {
  return Array.from({ length: frames }, (_, at) => 2 + ((at + first) % 2));
}

/** For each frame, the number of periods before it. */
function periodsBefore(periods: readonly number[]): number[] {
  let before = 0;
  return periods.map((length) => {
    before += length;
    return before - length;
  });
}

/** Adds a field to a random frame, or removes one. */
function breakCadence(periods: number[], random: Random): void {
  const at = 1 + random.below(periods.length - 2);
  periods[at] = (periods[at] ?? 0) + random.pick([-1, 1]);
}

describe('no frame is lost', () => {
  const seed = testSeed(1);
  const declared = [
    null,
    whole(12),
    whole(20),
    { numerator: 25, denominator: 2 },
    whole(90_000),
    ...COMMON_RATES,
  ];

  test(`whatever the frames on a grid of up to 60 frames a second are (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let run = 0; run < 300; run += 1) {
      const grid = COMMON_RATES[random.below(COMMON_RATES.length)] ?? whole(60);
      const longest = 1 + random.below(8);
      const periods = Array.from({ length: 20 + random.below(300) }, () => 1 + random.below(longest));
      const ofTrack = declared[random.below(declared.length)] ?? null;
      const { rate, shown } = outputOf(grid, periods, ofTrack);
      expect([run, rate, shown]).toEqual([run, rate, periods.length]);
    }
  });

  test('where the frame rate changes, although the average is that of 3:2 pulldown', () => {
    const periods = [...Array.from({ length: 30 }, () => 1), ...Array.from({ length: 90 }, () => 3)];
    expect(outputOf(whole(30), periods, whole(30))).toEqual({ rate: '30/1', shown: 120 });
  });

  test('where the frame rate changes, although the average is the rate of film', () => {
    const periods = Array.from({ length: 500 }, (_, at) => (at % 4 < 2 ? 1 : 4));
    expect(outputOf(FIELDS, periods, NTSC)).toEqual({ rate: '60000/1001', shown: 500 });
  });

  test('in 3:2 pulldown, at the rate of film', () => {
    expect(outputOf(FIELDS, pulldown(500), NTSC)).toEqual({ rate: '24000/1001', shown: 500 });
  });

  test('where the cadence of 3:2 pulldown breaks and is soon restored', () => {
    const periods = pulldown(500);
    periods.splice(251, 0, 2, 2, 3, 3);
    expect(outputOf(FIELDS, periods, NTSC)).toEqual({ rate: '24000/1001', shown: 504 });
  });

  test.each([
    ['in a transport stream', FIELDS, {}],
    [
      'in Matroska, which rounds times and has another declared rate',
      { numerator: 19_001, denominator: 317 },
      { roundedTo: 0.001 },
    ],
    ['in MPEG-2, which repeats fields', NTSC, { repeatsFields: true }],
  ])('where one field of 3:2 pulldown is missing %s', (_, declared, options) => {
    const periods = pulldown(480);
    periods[241] = 2;
    expect(outputOf(FIELDS, periods, declared, options)).toEqual({ rate: '24000/1001', shown: 480 });
  });

  test('in film whose first packet is not its first displayed frame', () => {
    const times = periodsBefore([4, ...pulldown(479)]).map((fields) => fields / toNumber(FIELDS));
    const timeline = new PacketTimeline(0, FIELDS);
    const [first = 0, second = 0, ...others] = times;
    for (const time of [second, first, ...others]) timeline.add(time, time, 1 / toNumber(FIELDS));
    const phase = phaseAt({ numerator: 24_000, denominator: 1001 }, timeline.result()?.losses);
    expect(new Set(times.map((time) => Math.round((time * 24_000) / 1001 + phase))).size).toBe(480);
  });

  test(`where a field is added to or missing in a random frame of 3:2 pulldown (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let run = 0; run < 300; run += 1) {
      const periods = pulldown(200 + random.below(800), random.below(2));
      breakCadence(periods, random);
      const options = {
        repeatsFields: random.below(2) === 0,
        roundedTo: random.pick([0, 0.001, 1 / 90_000]),
      };
      expect([run, outputOf(FIELDS, periods, null, options)]).toEqual([
        run,
        { rate: '24000/1001', shown: periods.length },
      ]);
    }
  });

  test(`but one percent where 3:2 pulldown breaks several times, or the rate is higher (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let run = 0; run < 300; run += 1) {
      const periods = pulldown(600 + random.below(800), random.below(2));
      const breaks = 2 + random.below(5);
      for (let count = 0; count < breaks; count += 1) breakCadence(periods, random);
      const { rate, shown } = outputOf(FIELDS, periods, null, { repeatsFields: random.below(2) === 0 });
      const lost = rate === '60000/1001' ? 0 : 0.01;
      expect([run, rate, 1 - shown / periods.length <= lost]).toEqual([run, rate, true]);
    }
  });

  test('where frames are on no grid, and many of them follow quickly', () => {
    const periods = Array.from({ length: 600 }, (_, at) => (at % 300 < 200 ? 35 : 97));
    const { rate, shown } = outputOf(whole(1999), periods, whole(30));
    expect(rate).toBe('60000/1001');
    expect(shown).toBeGreaterThan(597);
  });

  test('except a few where times jitter around a natural rate', () => {
    const random = new Random(seed);
    const jitters = Array.from({ length: 601 }, () => random.below(13));
    const periods = jitters.slice(1).map((jitter, at) => 66 + jitter - (jitters[at] ?? 0));
    const { rate, shown } = outputOf(whole(1979), periods, whole(30));
    expect(rate).toBe('30/1');
    expect(shown).toBeGreaterThan(570);
  });
});
