import { expect, test } from '@jest/globals';
import { doubleTapSeconds, seekWords, swipeSeconds } from './gestures.ts';

const WIDTH = 390;
const at = (x: number, y = 100, time = 0) => ({ x, y, time });

test.each([
  ['left', 60, -10],
  ['right', 330, 10],
  ['middle', 195, undefined],
])('a double tap in the %s third', (_, x, seconds) => {
  expect(doubleTapSeconds(at(x), at(x + 5, 104, 250), WIDTH)).toBe(seconds);
});

test('two taps are a double tap only if they are close in time and place', () => {
  expect(doubleTapSeconds(undefined, at(60), WIDTH)).toBeUndefined();
  expect(doubleTapSeconds(at(60), at(60, 100, 301), WIDTH)).toBeUndefined();
  expect(doubleTapSeconds(at(60), at(60, 149, 100), WIDTH)).toBeUndefined();
});

test('a swipe seeks by its share of the width, in both directions', () => {
  expect(swipeSeconds(at(100), at(295, 110), WIDTH)).toBe(60);
  expect(swipeSeconds(at(295), at(100, 90), WIDTH)).toBe(-60);
});

test.each([
  ['a tap of an unsteady finger', at(123, 100)],
  ['a finger that scrolls the page', at(150, 160)],
])('%s is no swipe', (_, to) => {
  expect(swipeSeconds(at(100), to, WIDTH)).toBeUndefined();
});

test('says how far it seeks', () => {
  expect([seekWords(-10), seekWords(35)]).toEqual(['−10 s', '+35 s']);
});
