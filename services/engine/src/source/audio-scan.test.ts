import { expect, test } from '@jest/globals';
import { AudioScan } from './audio-scan.ts';

const FRAME = 1024 / 48_000;

function scan(...times: number[]) {
  const audio = new AudioScan(5, 48_000);
  for (const time of times) audio.add(time, 300);
  return audio.result();
}

test('frames without gaps are counted', () => {
  expect(scan(5 - FRAME, 5, 5 + FRAME)).toEqual({ start: expect.closeTo(-FRAME), frames: 3, bytes: 900 });
});

test('packets are counted', () => {
  const audio = new AudioScan(0, 48_000);
  audio.add(0, 300);
  audio.add(9, 300);
  expect(audio.packets).toBe(2);
});

test('times may differ by a tick of the clock', () => {
  expect(scan(5, 5 + FRAME + 1 / 100_000)).toEqual({ start: 0, frames: 2, bytes: 600 });
});

test('frames with another description than the first one have no result', () => {
  const audio = new AudioScan(5, 48_000);
  audio.add(5, 300);
  audio.add(5 + FRAME, 300, true);
  audio.add(5 + 2 * FRAME, 300);
  expect(audio.result()).toBeNull();
});

test.each([
  ['with a gap', [5, 5 + 2 * FRAME]],
  ['without timestamps', [Number.NaN, Number.NaN]],
  ['that drift', [5, 5.021, 5.042]],
  ['that do not exist', []],
])('frames %s have no result', (_, times) => {
  expect(scan(...times)).toBeNull();
});
