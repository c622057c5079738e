import { expect, test } from '@jest/globals';
import { videoTrack } from '../../tests/support/tracks.ts';
import { pairFields } from './frame-pairing.ts';

const timeline = (rate: number) => ({
  cut: 0,
  frames: Math.round(rate * 10),
  start: 1,
  duration: 11,
  averageRate: rate,
  grid: null,
});

test.each([
  ['only fields', 50, 50, 25],
  ['only fields, at the American rate', 59.94, 60_000 / 1001, 30_000 / 1001],
  ['fields and frames', 37, 50, 25],
  ['a few fields', 27, 50, 25],
  ['fields and frames with a declared frame rate', 45, 29.97, 29.97],
  ['a few fields with a declared frame rate', 27.5, 25, 25],
  ['frames with a declared field rate', 24.99, 50, 24.99],
  ['only frames', 29.97, 30_000 / 1001, 29.97],
  ['film with repeated fields', 23.976, 60_000 / 1001, 23.976],
  ['only frames, at the highest rate', 30, 30, 30],
  ['more packets than the declared rate allows', 40, 15, 20],
  ['fields a little faster than declared', 50.1, 25, 25],
  ['fields with an absurd declared rate', 50, 90_000, 25],
])('%s: the timeline counts frames', (_, packetRate, declared, rate) => {
  const track = videoTrack({ interlaced: true, declaredRate: { numerator: declared, denominator: 1 } });
  const { frames, averageRate, ...rest } = timeline(rate);
  expect(pairFields(timeline(packetRate), track)).toEqual({
    ...rest,
    frames,
    averageRate: expect.closeTo(averageRate),
  });
});

test.each([
  ['progressive', { codec: 'h264', interlaced: false }],
  ['of another codec', { codec: 'mpeg2video', interlaced: true }],
])('video that is %s is counted by packets', (_, changes) => {
  const track = videoTrack({ ...changes, declaredRate: { numerator: 50, denominator: 1 } });
  expect(pairFields(timeline(50), track)).toEqual(timeline(50));
});

test('without a declared rate, fields are paired and frames are not', () => {
  const track = videoTrack({ interlaced: true, declaredRate: null });
  expect(pairFields(timeline(50), track)).toMatchObject({ frames: 250, averageRate: 25 });
  expect(pairFields(timeline(25), track)).toMatchObject({ frames: 250, averageRate: 25 });
});

test('interlaced H.264 is on no grid', () => {
  const grid = { numerator: 50, denominator: 1 };
  expect(pairFields({ ...timeline(50), grid }, videoTrack({ interlaced: true })).grid).toBeNull();
});
