import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { nalUnit, sampleOf } from '../../../tests/support/encoded-units.ts';
import { isIdrSample, typeOf, unitsOf } from './nal-units.ts';

const TRAIL = 1;
const RASL = 9;
const BLA = 16;
const IDR_WITH_LEADING = 19;
const IDR = 20;
const CRA = 21;
const [VPS, SPS, PPS, DELIMITER, MESSAGE] = [32, 33, 34, 35, 39] as const;

describe('the units of a sample', () => {
  test('are those between its lengths, and have a type', () => {
    const units = [nalUnit(DELIMITER), nalUnit(IDR, 1, 2), nalUnit(63)];
    expect(unitsOf(sampleOf(...units))).toEqual(units);
    expect(units.map(typeOf)).toEqual([DELIMITER, IDR, 63]);
    expect(unitsOf(Buffer.alloc(0))).toEqual([]);
  });

  test('have a type beside the other bits of the header', () => {
    expect(typeOf(Buffer.from([0x80 | (SPS << 1) | 1, 0xff]))).toBe(SPS);
  });

  test('are refused if one is truncated, wherever it ends', () => {
    const first = sampleOf(nalUnit(VPS, 1));
    const sample = Buffer.concat([first, sampleOf(nalUnit(IDR, 1, 2))]);
    for (let bytes = 1; bytes < sample.length; bytes += 1)
      if (bytes !== first.length) expect(() => unitsOf(sample.subarray(0, bytes))).toThrow();
  });

  test.each([
    ['empty', sampleOf(nalUnit(VPS), Buffer.alloc(0))],
    ['larger than a sample can be', Buffer.alloc(100, 0xff)],
    ['one byte longer than the sample', Buffer.from([0, 0, 0, 3, IDR << 1, 1])],
  ])('are refused if one is %s', (_, sample) => {
    expect(() => unitsOf(sample)).toThrow('is truncated');
  });

  test('are at most a thousand', () => {
    const units = (count: number) => sampleOf(...Array.from({ length: count }, () => nalUnit(TRAIL)));
    expect(unitsOf(units(1000))).toHaveLength(1000);
    expect(() => unitsOf(units(1001))).toThrow('too many units');
  });
});

test.each([
  ['of an IDR picture', [nalUnit(IDR, 1)], true],
  ['of an IDR picture with leading pictures', [nalUnit(IDR_WITH_LEADING, 1)], true],
  [
    'of an IDR picture after its parameter sets',
    [VPS, SPS, PPS, MESSAGE, IDR].map((type) => nalUnit(type)),
    true,
  ],
  ['of a picture that follows', [nalUnit(DELIMITER), nalUnit(TRAIL, 1)], false],
  // Pictures that follow it in decoding order may refer to earlier ones.
  ['of a clean random access', [nalUnit(CRA, 1)], false],
  ['of a broken link', [nalUnit(BLA, 1)], false],
  ['of a skipped picture', [nalUnit(RASL, 1)], false],
  ['of a reserved type of slice', [nalUnit(31, 1), nalUnit(IDR, 1)], false],
  ['that begins with another picture', [nalUnit(0, 1), nalUnit(IDR, 1)], false],
  ['without a picture', [nalUnit(VPS), nalUnit(MESSAGE)], false],
  ['without units', [], false],
] as const)('decoding starts at a sample %s: %s', (_, units, expected) => {
  expect(isIdrSample(sampleOf(...units))).toBe(expected);
});

test('decoding starts at no sample with a truncated unit', () => {
  const sample = sampleOf(nalUnit(VPS, 1), nalUnit(IDR, 1, 2));
  expect(isIdrSample(sample)).toBe(true);
  for (let bytes = 0; bytes < sample.length; bytes += 1)
    expect(isIdrSample(sample.subarray(0, bytes))).toBe(false);
  for (const byte of [0x00, 0xff]) expect(isIdrSample(Buffer.alloc(1000, byte))).toBe(false);
});

test('samples are read in linear time', async () => {
  const samplesOf = (size: number) =>
    [nalUnit(VPS), nalUnit(TRAIL, ...Array(8000).fill(1)), Buffer.alloc(0)].map((unit) =>
      Buffer.alloc(size, sampleOf(unit)),
    );
  await requireLinearTime(2 ** 22, samplesOf, (samples) => {
    for (const sample of samples) isIdrSample(sample);
  });
});
