import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { obu } from '../../../tests/support/encoded-units.ts';
import { isKeyFrame, SEQUENCE_HEADER, unitsOf } from './obus.ts';

const DELIMITER = 2;
const FRAME_HEADER = 3;
const METADATA = 5;
const FRAME = 6;

const sequence = obu(SEQUENCE_HEADER, [0, 0, 0, 1]);
const delimiter = obu(DELIMITER, []);

describe('the units of a sample', () => {
  test('have a type, their bytes, and those after the header', () => {
    const units = unitsOf(Buffer.concat([delimiter, sequence, obu(FRAME, [0x10, 7])]));
    expect(units.map(({ type, payload }) => [type, [...payload]])).toEqual([
      [DELIMITER, []],
      [SEQUENCE_HEADER, [0, 0, 0, 1]],
      [FRAME, [0x10, 7]],
    ]);
    expect(units.map(({ bytes }) => bytes)).toEqual([delimiter, sequence, obu(FRAME, [0x10, 7])]);
    expect(unitsOf(Buffer.alloc(0))).toEqual([]);
  });

  test('may have a header of two bytes, for layers', () => {
    const layered = Buffer.from([(FRAME << 3) | 4 | 2, 0x20, 2, 0x10, 7]);
    expect(unitsOf(layered)).toEqual([
      { type: FRAME, isOfLayer: true, bytes: layered, payload: layered.subarray(3) },
    ]);
    expect(unitsOf(obu(FRAME, [7])).map(({ isOfLayer }) => isOfLayer)).toEqual([false]);
  });

  test.each([
    ['one byte', [0x7f], 127],
    ['two bytes', [0x80, 0x01], 128],
    ['three bytes', [0x81, 0x80, 0x01], 16_385],
    ['padding, as a muxer writes it', [0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 3],
  ])('may have a size of %s', (_, size, bytes) => {
    const head = Buffer.from([(METADATA << 3) | 2, ...size]);
    const [unit] = unitsOf(Buffer.concat([head, Buffer.alloc(bytes)]));
    expect(unit?.payload).toHaveLength(bytes);
  });

  test('are refused if one is truncated, wherever it ends', () => {
    const sample = Buffer.concat([sequence, obu(FRAME, Buffer.alloc(200))]);
    for (let bytes = 1; bytes < sample.length; bytes += 1)
      if (bytes !== sequence.length) expect(() => unitsOf(sample.subarray(0, bytes))).toThrow();
  });

  test.each([
    ['without a size', [FRAME << 3, 0x10], 'has no size'],
    ['whose size has nine bytes', [0x32, ...Array(8).fill(0x80), 0], 'size of a unit is too long'],
    ['of more bytes than a file can have', [0x32, ...Array(7).fill(0xff), 0x7f], 'is truncated'],
    ['of one byte too many', [0x32, 2, 0x10], 'is truncated'],
  ])('are refused with one %s', (_, bytes, message) => {
    expect(() => unitsOf(Buffer.from(bytes))).toThrow(message);
  });

  test('are at most a thousand', () => {
    const units = (count: number) => Buffer.alloc(count * delimiter.length, delimiter);
    expect(unitsOf(units(1000))).toHaveLength(1000);
    expect(() => unitsOf(units(1001))).toThrow('too many units');
  });
});

test.each([
  ['of a key frame', [delimiter, sequence, obu(FRAME, [0x10])], true],
  ['of a key frame after metadata', [sequence, obu(METADATA, [1]), obu(FRAME, [0x1f])], true],
  ['of a key frame whose header is a unit of its own', [sequence, obu(FRAME_HEADER, [0x10])], true],
  ['of a key frame before another frame', [sequence, obu(FRAME, [0x10]), obu(FRAME, [0x30])], true],
  ['of a key frame without a sequence header', [delimiter, obu(FRAME, [0x10])], false],
  ['of a key frame before its sequence header', [obu(FRAME, [0x10]), sequence], false],
  ['of a key frame that is not shown', [sequence, obu(FRAME, [0x00])], false],
  ['of an inter frame', [sequence, obu(FRAME, [0x30])], false],
  ['of an intra-only frame', [sequence, obu(FRAME, [0x50])], false],
  ['that shows an earlier frame', [sequence, obu(FRAME_HEADER, [0x90])], false],
  ['that begins with an inter frame', [sequence, obu(FRAME, [0x30]), obu(FRAME, [0x10])], false],
  ['of an empty frame', [sequence, obu(FRAME, [])], false],
  ['without a frame', [delimiter, sequence], false],
  ['without units', [], false],
] as const)('decoding starts at a sample %s: %s', (_, units, expected) => {
  expect(isKeyFrame(Buffer.concat(units))).toBe(expected);
});

test('decoding starts at no sample with a truncated unit', () => {
  const sample = Buffer.concat([sequence, obu(FRAME, [0x10, 1, 2])]);
  expect(isKeyFrame(sample)).toBe(true);
  for (let bytes = 0; bytes < sample.length; bytes += 1)
    expect(isKeyFrame(sample.subarray(0, bytes))).toBe(false);
  for (const byte of [0x00, 0xff]) expect(isKeyFrame(Buffer.alloc(1000, byte))).toBe(false);
});

test('samples are read in linear time', async () => {
  const samplesOf = (size: number) =>
    [delimiter, sequence, obu(FRAME, Buffer.alloc(2000)), Buffer.from([0x32, 0x80]), Buffer.from([0xff])].map(
      (small) => Buffer.alloc(size, small),
    );
  await requireLinearTime(2 ** 22, samplesOf, (samples) => {
    for (const sample of samples) isKeyFrame(sample);
  });
});
