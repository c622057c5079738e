import { expect, test } from '@jest/globals';
import { seekTarget } from './keys.ts';

const media = { currentTime: 50, duration: 200, paused: false };

test.each([
  ['0', 0],
  ['9', 180],
  ['ArrowLeft', 45],
  ['ArrowRight', 55],
  ['j', 40],
  ['l', 60],
  ['Home', 0],
  ['End', 200],
])('%s seeks to %d', (key, target) => {
  expect(seekTarget(key, media)).toBe(target);
});

test('steps by frames only while paused', () => {
  expect([',', '.'].map((key) => seekTarget(key, media))).toEqual([undefined, undefined]);
  expect([',', '.'].map((key) => seekTarget(key, { ...media, paused: true }))).toEqual([49.96, 50.04]);
});

test('stays within the video, and does nothing before its duration is known', () => {
  expect(seekTarget('j', { ...media, currentTime: 3 })).toBe(0);
  expect(seekTarget('l', { ...media, currentTime: 195 })).toBe(200);
  expect(seekTarget('5', { ...media, duration: Number.NaN })).toBeUndefined();
});

test.each(['k', 'm', 'Tab', 'ArrowUp'])('leaves %s to others', (key) => {
  expect(seekTarget(key, media)).toBeUndefined();
});
