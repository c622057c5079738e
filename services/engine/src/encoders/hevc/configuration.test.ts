import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { hevcConfiguration, nalUnit, sampleOf } from '../../../tests/support/encoded-units.ts';
import { configuredCodec, isConfigured, withoutMessages } from './configuration.ts';

const [IDR, VPS, SPS, PPS, MESSAGE] = [20, 32, 33, 34, 39] as const;

const video = nalUnit(VPS, 1);
const sequence = nalUnit(SPS, 2);
const picture = nalUnit(PPS, 3);
const frame = nalUnit(IDR, 4);
const configuration = hevcConfiguration({}, [video], [sequence], [picture]);

describe('the codec string', () => {
  test.each([
    [{}, 'hvc1.1.6.L93.90'],
    // As x265 writes it at 320x180.
    [{ level: 63 }, 'hvc1.1.6.L63.90'],
    // Main 10 of the high levels, and of the high tier.
    [{ profile: 2, compatibility: 0x2000_0000, constraints: [0xb0], level: 153 }, 'hvc1.2.4.L153.B0'],
    [{ profile: 0x22, compatibility: 0x2000_0000, constraints: [0xb0], level: 150 }, 'hvc1.2.4.H150.B0'],
    // Range extensions (4:2:2, 10 bits) in a profile space of their own, with constraints of several bytes.
    [
      { profile: 0x44, compatibility: 0x0800_0000, constraints: [0xbd, 0x08, 0, 1], level: 120 },
      'hvc1.A4.10.L120.BD.8.0.1',
    ],
    [{ profile: 0x81, constraints: [] }, 'hvc1.B1.6.L93'],
    [{ profile: 0xc1, constraints: [0, 0, 0, 0, 0, 0xff], level: 255 }, 'hvc1.C1.6.L255.0.0.0.0.0.FF'],
    [{ profile: 31, compatibility: 0x8000_0001, level: 0 }, 'hvc1.31.80000001.L0.90'],
    [{ compatibility: 0 }, 'hvc1.1.0.L93.90'],
    [{ compatibility: 0xffff_ffff }, 'hvc1.1.FFFFFFFF.L93.90'],
  ])('of %j is %s', (fields, codecs) => {
    expect(configuredCodec(hevcConfiguration(fields))).toBe(codecs);
  });

  test('needs lengths of four bytes', () => {
    for (const size of [0xfc, 0xfd, 0xfe]) {
      const short = Buffer.from(configuration);
      short[21] = size;
      expect(() => configuredCodec(short)).toThrow('another size');
      expect(() => isConfigured(short)).toThrow('another size');
    }
  });

  test('of a truncated record is refused, wherever it ends', () => {
    for (let bytes = 0; bytes < 23; bytes += 1)
      expect(() => configuredCodec(configuration.subarray(0, bytes))).toThrow('truncated');
  });
});

test.each([
  ['none', [frame], true],
  ['those of the section', [video, sequence, picture, frame], true],
  ['a message', [nalUnit(MESSAGE, 9), frame], true],
  ['another video parameter set', [nalUnit(VPS, 9), frame], false],
  ['another sequence parameter set', [nalUnit(SPS, 9), frame], false],
  ['another picture parameter set', [nalUnit(PPS, 9), frame], false],
  ['another one after the picture', [video, sequence, picture, frame, nalUnit(PPS, 9)], false],
] as const)('a sample may have parameter sets: %s: %s', (_, units, expected) => {
  expect(isConfigured(configuration)(sampleOf(...units))).toBe(expected);
});

test('players may not decode the high tier, or samples of several layers', () => {
  const high = hevcConfiguration({ profile: 0x21 }, [video], [sequence], [picture]);
  expect(isConfigured(high)(sampleOf(frame))).toBe(false);
  const isOwn = isConfigured(configuration);
  // The number of the layer has six bits, the first one in the first byte.
  for (const header of [[(IDR << 1) | 1, 1], [IDR << 1, 0x09], [IDR << 1, 0x81], [IDR << 1]])
    expect(isOwn(sampleOf(frame, Buffer.from(header)))).toBe(false);
  // The last three bits are of a layer in time.
  expect(isOwn(sampleOf(frame, Buffer.from([IDR << 1, 7])))).toBe(true);
});

test('messages are left out of a configuration', () => {
  const message = nalUnit(MESSAGE, 9);
  expect(withoutMessages(configuration)).toEqual(configuration);
  const arrays = [[video], [message, message], [sequence], [picture], [nalUnit(40)]];
  expect(withoutMessages(hevcConfiguration({}, ...arrays))).toEqual(configuration);
  expect(withoutMessages(hevcConfiguration({}, [message]))).toEqual(hevcConfiguration({}));
  for (let bytes = 0; bytes < configuration.length; bytes += 1)
    expect(() => withoutMessages(configuration.subarray(0, bytes))).toThrow();
});

test('a configuration may have several picture parameter sets', () => {
  const isOwn = isConfigured(hevcConfiguration({}, [video], [sequence], [picture, nalUnit(PPS, 5)]));
  expect(isOwn(sampleOf(nalUnit(PPS, 5), frame))).toBe(true);
});

test('a configuration with none or several sequence parameter sets does not say which one a sample needs', () => {
  for (const sets of [[], [sequence, nalUnit(SPS, 5)]])
    expect(isConfigured(hevcConfiguration({}, [video], sets, [picture]))(sampleOf(frame))).toBe(false);
  expect(isConfigured(hevcConfiguration({}))(sampleOf(frame))).toBe(false);
});

describe('a damaged configuration', () => {
  test('is refused, wherever it ends', () => {
    for (let bytes = 0; bytes < configuration.length; bytes += 1)
      expect(() => isConfigured(configuration.subarray(0, bytes))).toThrow();
  });

  test('with absurd counts and lengths is refused', () => {
    // More arrays, more sets in an array, a longer set than there are.
    for (const at of [22, 24, 26]) {
      const absurd = Buffer.from(configuration);
      absurd[at] = 255;
      expect(() => isConfigured(absurd)).toThrow();
    }
  });

  test('with an empty parameter set is refused', () => {
    const empty = hevcConfiguration({}, [Buffer.alloc(0)], [sequence], [picture]);
    expect(() => isConfigured(empty)).toThrow('is truncated');
  });
});

test('a damaged sample has another configuration', () => {
  const isOwn = isConfigured(configuration);
  const sample = sampleOf(video, frame);
  const ends = [0, sampleOf(video).length];
  for (let bytes = 0; bytes < sample.length; bytes += 1)
    expect(isOwn(sample.subarray(0, bytes))).toBe(ends.includes(bytes));
  for (const byte of [0x00, 0xff]) expect(isOwn(Buffer.alloc(1000, byte))).toBe(false);
  expect(isOwn(sampleOf(...Array.from({ length: 1001 }, () => frame)))).toBe(false);
});

test('configurations and samples are read in linear time', async () => {
  const smallSets = Array.from({ length: 65_535 }, () => [0, 1, SPS << 1]).flat();
  const isOwn = isConfigured(configuration);
  const inputsOf = (size: number) => {
    // Arrays of very many small sets, and samples of parameter sets.
    const head = Buffer.from(configuration.subarray(0, 23));
    head[22] = 255;
    return {
      record: Buffer.concat([head, Buffer.alloc(size, Buffer.from([0x21, 0xff, 0xff, ...smallSets]))]),
      samples: [nalUnit(SPS, ...Array(8000).fill(1)), nalUnit(SPS)].map((set) =>
        Buffer.alloc(size, sampleOf(set)),
      ),
    };
  };
  await requireLinearTime(2 ** 22, inputsOf, ({ record, samples }) => {
    try {
      isConfigured(record)(sampleOf(frame));
    } catch {
      // It may be refused.
    }
    for (const sample of samples) isOwn(sample);
  });
});
