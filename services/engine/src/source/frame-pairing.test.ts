import { expect, test } from '@jest/globals';
import { videoTrack } from '../../tests/support/tracks.ts';
import { wholePictures } from './frame-pairing.ts';

const timeline = (rate: number) => ({
  frames: Math.round(rate * 10),
  start: 1,
  duration: 11,
  averageRate: rate,
  grid: null,
});

test.each([
  ['fields alone', 50, 50, 25],
  ['fields alone in America', 59.94, 60_000 / 1001, 30_000 / 1001],
  ['fields and frames', 37, 50, 25],
  ['few fields', 27, 50, 25],
  ['fields and frames that declare whole pictures', 45, 29.97, 29.97],
  ['few fields that declare whole pictures', 27.5, 25, 25],
  ['frames that declare their fields', 24.99, 50, 24.99],
  ['frames', 29.97, 30_000 / 1001, 29.97],
  ['film of which fields are shown twice', 23.976, 60_000 / 1001, 23.976],
  ['fields of an absurd clock', 50, 90_000, 25],
])('%s are counted as whole pictures', (_, packetRate, declared, rate) => {
  const track = videoTrack({ interlaced: true, declaredRate: { numerator: declared, denominator: 1 } });
  const { frames, averageRate, ...rest } = timeline(rate);
  expect(wholePictures(timeline(packetRate), track)).toEqual({
    ...rest,
    frames,
    averageRate: expect.closeTo(averageRate),
  });
});

test.each([
  ['progressive', { codec: 'h264', interlaced: false }],
  ['of another codec', { codec: 'mpeg2video', interlaced: true }],
])('pictures that are %s stay as many as they are', (_, changes) => {
  const track = videoTrack({ ...changes, declaredRate: { numerator: 50, denominator: 1 } });
  expect(wholePictures(timeline(50), track)).toEqual(timeline(50));
});
