import { describe, expect, test } from '@jest/globals';
import { planLadder, posterRendition, stillLadder } from './ladder.ts';

const sizes = (width: number, height: number) =>
  planLadder({ width, height }, 25).map(
    (rendition) => `${rendition.name} ${rendition.width}x${rendition.height}`,
  );

describe('the ladder', () => {
  test.each([
    ['1080p', 1920, 1080, ['360p 640x360', '480p 854x480', '720p 1280x720', '1080p 1920x1080']],
    [
      '4K, which ends at 1080p',
      3840,
      2160,
      ['360p 640x360', '480p 854x480', '720p 1280x720', '1080p 1920x1080'],
    ],
    ['portrait video', 1080, 1920, ['360p 360x640', '480p 480x854', '720p 720x1280', '1080p 1080x1920']],
    ['cinema, by its short side', 1920, 800, ['360p 864x360', '480p 1152x480', '720p 1728x720']],
    ['a line short of a rung', 1916, 1079, ['360p 640x360', '480p 852x480', '720p 1278x720']],
    ['a square', 480, 480, ['360p 360x360', '480p 480x480']],
    ['an odd side on a rung', 641, 360, ['360p 642x360']],
    ['below the lowest rung, in its own size', 320, 240, ['360p 320x240']],
    ['odd sides, which lose a line', 321, 241, ['360p 320x240']],
    ['a single pixel', 1, 1, ['360p 2x2']],
  ])('for %s', (_, width, height, expected) => {
    expect(sizes(width, height)).toEqual(expected);
  });

  test('raises the maximum bit rate of fast video in high renditions', () => {
    const caps = (rate: number) =>
      planLadder({ width: 1920, height: 1080 }, rate).map(({ maxRate }) => maxRate / 1000);
    expect(caps(30)).toEqual([800, 1400, 2800, 5000]);
    expect(caps(60)).toEqual([800, 1400, 3920, 7000]);
  });

  test.each([
    ['up to 30 frames per second', 1080, 30, [1, 1, 1, 1]],
    ['above 30 frames per second', 1080, 50, [2, 2, 1, 1]],
    ['above 30 frames per second, at the top', 480, 50, [2, 1]],
    ['above 30 frames per second, alone', 240, 60, [1]],
  ])('has every frame or every second frame %s', (_, height, rate, steps) => {
    const ladder = planLadder({ width: (height * 16) / 9, height }, rate);
    expect(ladder.map(({ frameStep }) => frameStep)).toEqual(steps);
  });
});

const ladderOf = (height: number) => planLadder({ width: (height * 16) / 9, height }, 25);

test.each([
  [1080, ['360p', '1080p']],
  [480, ['360p', '480p']],
  [240, ['360p']],
])('still video with %d lines has its lowest and its highest rung alone', (height, expected) => {
  expect(stillLadder(ladderOf(height)).map(({ name }) => name)).toEqual(expected);
});

test.each([
  ['720p of several', ladderOf(1080), '720p'],
  ['the next higher one', stillLadder(ladderOf(1080)), '1080p'],
  ['the highest one below', ladderOf(480), '480p'],
  ['nothing without renditions', [], undefined],
])('the poster is made of %s', (_, ladder, expected) => {
  expect(posterRendition(ladder)?.name).toBe(expected);
});
