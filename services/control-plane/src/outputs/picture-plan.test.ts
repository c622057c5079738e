import { describe, expect, test } from '@jest/globals';
import {
  type MovingRequest,
  type PicturedVideo,
  planMoving,
  planPoster,
  planStill,
  type StillRequest,
  segmentsFor,
} from './picture-plan.ts';

const VIDEO: PicturedVideo = {
  duration: 60,
  renditions: [
    { name: '360p', width: 640, height: 360, frameRate: 25 },
    { name: '720p', width: 1280, height: 720, frameRate: 25 },
    { name: '1080p', width: 1920, height: 1080, frameRate: 25 },
  ],
};
const PORTRAIT: PicturedVideo = {
  duration: 60,
  renditions: [{ name: '360p', width: 360, height: 640, frameRate: 25 }],
};

const still = (changes: Partial<StillRequest> = {}, video = VIDEO) =>
  planStill({ time: 1, fit: 'contain', format: 'jpg', ...changes }, video);
const moving = (changes: Partial<MovingRequest> = {}, video = VIDEO) =>
  planMoving({ start: 1, duration: 3, width: 320, fps: 10, format: 'webp', ...changes }, video);

describe('the size of a still picture', () => {
  test.each<[string, Partial<StillRequest>, string]>([
    ['fits into 640 × 640', {}, '640x360 of 360p'],
    ['follows from the width', { width: 1000 }, '1000x563 of 720p'],
    ['or from the height', { height: 1080 }, '1920x1080 of 1080p'],
    ['fits into both', { width: 1000, height: 90 }, '160x90 of 360p'],
    ['is never larger than the highest variant', { width: 4096 }, '1920x1080 of 1080p'],
    ['may be odd', { width: 101, height: 57, fit: 'cover' }, '101x57 of 360p'],
    ['is that of the box, if the frame is cut', { width: 300, height: 300, fit: 'cover' }, '300x300 of 360p'],
    ['or padded', { width: 300, height: 300, fit: 'pad' }, '300x300 of 360p'],
    ['whose frame is not enlarged', { width: 2160, height: 2160, fit: 'cover' }, '1080x1080 of 1080p'],
    ['also in a padded box', { width: 3840, height: 3840, fit: 'pad' }, '1920x1920 of 1080p'],
    ['has at least one pixel', { width: 1 }, '1x1 of 360p'],
    ['without one side of the box, is that of the frame', { width: 320, fit: 'cover' }, '320x180 of 360p'],
  ])('%s: %j', (_, changes, expected) => {
    const { width, height, rendition } = still(changes) ?? {};
    expect(`${width}x${height} of ${rendition}`).toBe(expected);
  });

  test('of a portrait video fits into 640 × 640, too', () => {
    expect(still({}, PORTRAIT)).toMatchObject({ width: 360, height: 640 });
  });
});

test('a frame is taken from a rendition that has all frames', () => {
  const [low, ...others] = VIDEO.renditions.map((each) => ({ ...each, frameRate: 50 }));
  const fast = { ...VIDEO, renditions: [{ ...low, frameRate: 25 } as never, ...others] };
  expect(still({}, fast)?.rendition).toBe('720p');
  expect(moving({}, fast)?.rendition).toBe('360p');
});

test.each([
  [0, 0],
  [1 / 24, 42],
  [12.3456, 12346],
  [59.9999, 60000],
])('a time of %d s is the millisecond %d', (time, start) => {
  expect([still({ time })?.start, moving({ start: time })?.start]).toEqual([start, start]);
});

test.each([60, 60.001, 40_000])('at %d s, a video of 60 s has no frame', (time) => {
  expect([still({ time }), moving({ start: time }), planPoster(time, VIDEO)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('sound alone has no frame', () => {
  const sound = { duration: 60, renditions: [] };
  expect([still({}, sound), moving({}, sound), planPoster(1, sound)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each<[Partial<MovingRequest>, number]>([
  [{}, 30],
  [{ duration: 0.1, fps: 1 }, 1],
  [{ start: 59.5 }, 5],
  [{ start: 59.99 }, 1],
  [{ duration: 10, fps: 15 }, 150],
])('a moving picture of %j has %d frames', (changes, frames) => {
  expect(moving(changes)?.motion?.frames).toBe(frames);
});

test('requests for the same picture have the same name, and others another', () => {
  const names = [
    still({ width: 320 }),
    still({ width: 320, height: 180 }),
    still({ width: 320, fit: 'cover' }),
    still({ width: 320, format: 'webp' }),
    still({ width: 320, time: 1.001 }),
    moving(),
    moving({ width: 321 }),
    moving({ fps: 9 }),
    moving({ format: 'gif' }),
  ].map((each) => each?.name);
  expect(names[1]).toBe(names[0]);
  expect(new Set(names).size).toBe(names.length - 1);
});

test('the poster has the size of the rendition for posters', () => {
  expect(planPoster(2, VIDEO)).toMatchObject({
    name: 'poster',
    rendition: '720p',
    start: 2000,
    width: 1280,
    height: 720,
  });
});

describe('the segments of a picture', () => {
  const DURATIONS = [2.002, 2.002, 4.004, 4.004, 1];
  test.each([
    [0, 0],
    [2001, 0],
    [2002, 1],
    [4003, 1],
    [4004, 2],
    [12_011, 3],
    [12_012, 4],
    [90_000, 4],
  ])('at %d ms is that with its frame: %d', (start, first) => {
    expect(segmentsFor({ start, motion: null }, DURATIONS)).toEqual({ first, count: 1 });
  });

  test.each([
    [1000, 10, { first: 0, count: 1 }],
    [1000, 12, { first: 0, count: 2 }],
    [1000, 100, { first: 0, count: 4 }],
    [3000, 11, { first: 1, count: 1 }],
    [3000, 12, { first: 1, count: 2 }],
  ])('from %d ms on, with %d frames a tenth of a second apart, are %j', (start, frames, expected) => {
    expect(segmentsFor({ start, motion: { frames, framesPerSecond: 10 } }, DURATIONS)).toEqual(expected);
  });
});
