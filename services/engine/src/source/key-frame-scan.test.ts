import { expect, test } from '@jest/globals';
import { KeyFrameScan } from './key-frame-scan.ts';

type Packet = [pts: number, dts: number, isKey?: boolean, isHidden?: boolean];

function scan(...packets: Packet[]): KeyFrameScan {
  const keyFrames = new KeyFrameScan(10);
  for (const [pts, dts, isKey = true, isHidden = false] of packets)
    keyFrames.add({ pts, dts, isKey, isHidden });
  return keyFrames;
}

test.each([
  [
    'closed',
    false,
    [
      [10, 9.9],
      [10.2, 10, false],
      [12, 12],
      [12.1, 12.1, false],
    ],
  ],
  [
    'open',
    true,
    [
      [10, 9.9],
      [10.2, 10, false],
      [12, 12],
      [11.9, 12.1, false],
    ],
  ],
] as [string, boolean, Packet[]][])('groups of pictures are %s', (_, isOpen, packets) => {
  expect(scan(...packets).hasLeadingFrames).toBe(isOpen);
});

test('displayed key frames are collected, at least half a second apart', () => {
  const { times } = scan(
    [10, 10],
    [10.2, 10.2],
    [10.6, 10.6, false],
    [11, 11],
    [12, 12, true, true],
    [13, 13],
  );
  expect(times).toEqual([0, 1, 3]);
});

test.each<[string, boolean, Packet[]]>([
  [
    'ascend',
    true,
    [
      [11, 10],
      [10.5, 10.5, false],
      [12, 10.5],
      [13, Number.NaN],
      [14, 11],
    ],
  ],
  [
    'go back at a hidden packet',
    false,
    [
      [11, 11],
      [12, 12, true, true],
      [10.9, 10.9, true, true],
      [11, 11],
    ],
  ],
])('decoding timestamps %s', (_, isAscending, packets) => {
  expect(scan(...packets).isAscending).toBe(isAscending);
});

test.each<[string, number | null, Packet[]]>([
  [
    'begins with a key frame',
    null,
    [
      [10, 10],
      [10.5, 10.5, false],
      [11, 11],
    ],
  ],
  [
    'begins between key frames',
    1,
    [
      [10, 10, false],
      [10.5, 10.5, false],
      [11, 11],
      [12, 12],
    ],
  ],
  [
    'has its first key frame at the limit',
    10,
    [
      [10, 10, false],
      [20, 20],
    ],
  ],
  [
    'has its first key frame late',
    null,
    [
      [10, 10, false],
      [20.1, 20.1],
    ],
  ],
  [
    'has a key frame that is displayed first',
    null,
    [
      [10.2, 10, false],
      [9.9, 10.1],
    ],
  ],
  [
    'has a key frame without a time',
    null,
    [
      [10, 10, false],
      [Number.NaN, Number.NaN],
    ],
  ],
  [
    'has no key frame',
    null,
    [
      [10, 10, false],
      [10.5, 10.5, false],
    ],
  ],
])('a track %s', (_, second, packets) => {
  expect(scan(...packets).firstPicture).toBe(second);
});
