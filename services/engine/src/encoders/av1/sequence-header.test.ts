import { describe, expect, test } from '@jest/globals';
import { pictureOf } from './sequence-header.ts';

/** Sequence headers of 640x360 in BT.709: as SVT-AV1 1.4 writes it before and after it has chosen its tools, and of libaom. */
const EARLY = '0000000cc4ff6700be0404040410';
const FINAL = '0000000cc4ff673efe4404040410';
const AOM = '0000000cc4ff6736be4404040410';

const pictureIn = (header: string) => pictureOf(Buffer.from(header, 'hex'));

/** A header with one bit changed. */
function changed(header: string, bit: number): string {
  const bytes = Buffer.from(header, 'hex');
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (0x80 >> (bit & 7)), bit >> 3);
  return bytes.toString('hex');
}

describe('the picture of a sequence header', () => {
  test('is its size, its level and its colours', () => {
    expect(JSON.parse(pictureIn(FINAL))).toEqual({
      points: [[0, 1, 0]],
      size: [639, 359],
      colour: [0, 0, 0, 0, 1, 1, 1],
    });
  });

  test('does not depend on coding tools', () => {
    expect([EARLY, AOM].map(pictureIn)).toEqual([pictureIn(FINAL), pictureIn(FINAL)]);
  });

  test.each([
    ['an operating point', 20],
    ['the level', 27],
    ['the width', 46],
    ['the height', 55],
    ['the depth', 75],
    ['the number of planes', 76],
    ['the primaries', 79],
    ['the transfer function', 93],
    ['the matrix', 101],
    ['the range', 102],
    ['the position of chroma', 103],
  ])('is another one with another value of %s', (_, bit) => {
    expect(pictureIn(changed(FINAL, bit))).not.toBe(pictureIn(FINAL));
  });

  test.each([
    ['another profile', 1],
    ['a still picture', 3],
    ['a reduced header', 4],
    ['times', 5],
  ])('is not read with %s', (_, bit) => {
    expect(() => pictureIn(changed(FINAL, bit))).toThrow();
  });

  test('is not read if the header is truncated', () => {
    for (let bytes = 0; bytes < 13; bytes += 1)
      expect(() => pictureOf(Buffer.from(FINAL, 'hex').subarray(0, bytes))).toThrow();
  });
});
