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
  audio.add(5 + FRAME, 300, { hasNewDescription: true });
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

type Packet = [time: number, isHidden: boolean];

const edited = (...packets: Packet[]) => {
  const audio = new AudioScan(5, 48_000);
  for (const [time, isHidden] of packets) audio.add(time, 300, { isHidden });
  return { start: audio.start, packets: audio.packets, result: audio.result() };
};

test('hidden packets at the beginning belong to a copy, but not to what is heard', () => {
  expect(edited([5 - FRAME, true], [5, false], [5 + FRAME, false])).toEqual({
    start: 0,
    packets: 2,
    result: { start: expect.closeTo(-FRAME), frames: 3, bytes: 900 },
  });
});

test('hidden packets after the audible ones do not count', () => {
  expect(edited([5, false], [5 + FRAME, false], [5 + 2 * FRAME, true])).toEqual({
    start: 0,
    packets: 2,
    result: { start: 0, frames: 2, bytes: 600 },
  });
});

test('a copy would bring back hidden packets between audible ones', () => {
  expect(edited([5, false], [5 + FRAME, true], [5 + FRAME, false]).result).toBeNull();
});

test('of hidden packets alone, nothing is heard', () => {
  expect(edited([5, true], [5 + FRAME, true])).toMatchObject({ packets: 0, start: Number.NaN });
});
