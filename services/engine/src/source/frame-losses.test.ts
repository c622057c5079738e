import { describe, expect, test } from '@jest/globals';
import { FrameLossScan } from './frame-losses.ts';

const whole = (rate: number) => ({ numerator: rate, denominator: 1 });

/** The lost fraction of frames with these times in seconds, at 25 and at 50 frames a second. */
function losses(times: readonly number[]): number[] {
  const scan = new FrameLossScan([whole(25), whole(50)]);
  for (const time of times) scan.add(time);
  return scan.result().map(({ lost }) => lost);
}

const at = (rate: number, count: number) => Array.from({ length: count }, (_, number) => number / rate);

describe('the losses of frames', () => {
  test.each([
    ['at the rate of the frames are none', at(25, 100), [0, 0]],
    ['at half the rate of the frames are half', at(50, 100), [0.5, 0]],
    ['do not depend on the order of decoding', [0, 0.12, 0.04, 0.08, 0.24, 0.16, 0.2], [0, 0]],
    ['do not include frames that the maximum rate loses, too', [0, 0, 0.001, 0.04], [0, 0]],
    ['of a track without frames are none', [], [0, 0]],
  ])('%s', (_, times, expected) => {
    expect(losses(times)).toEqual(expected.map((fraction) => expect.closeTo(fraction, 1)));
  });

  test.each([
    ['the first frame at a frame time', [0, 0.8, 2, 2.8, 4, 4.8, 6], 0, 0],
    ['the phase that loses fewest', [0, 0.8, 1.6, 2.4, 3.6, 4.4, 5.6], 0.2, 0],
    ['no other phase if all lose as many', [0, 0.1, 1, 2, 3], 0, 0.2],
  ])('are those with %s', (_, periods, phase, lost) => {
    const scan = new FrameLossScan([whole(24)]);
    for (const period of periods) scan.add(10 + period / 24);
    expect(scan.result()).toMatchObject([{ phase, lost }]);
  });

  test('count frames up to the reordering that codecs allow', () => {
    const reordered = [0, ...at(50, 33).slice(2).toReversed(), 1 / 50];
    expect(losses([...reordered, ...at(50, 66).slice(33)])).toEqual([expect.closeTo(0.5, 1), 0]);
  });

  test.each([
    ['jitter around a rate', 25, [0, 1.4, 1.5, 3.4, 3.5, 5.4, 5.5, 7, 8, 9], 0],
    ['follow more quickly for a while', 25, [0, 1, 2, 2.5, 3, 3.5, 4, 4.5, 8, 9], 0.2],
  ])('crowd no rate, or this rate, if they %s', (_, rate, periods, crowded) => {
    const scan = new FrameLossScan([whole(rate)]);
    for (const period of periods) scan.add(period / rate);
    expect(scan.result()[0]?.crowded).toBeCloseTo(crowded);
  });
});
