import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { avcConfiguration, numbers, pictureSet, sequenceSet } from '../../../tests/support/cmaf-boxes.ts';
import { configuredCodec, extended, freeSetId, isConfigured, isIdrSample } from './avc-configuration.ts';

const configuration = avcConfiguration([sequenceSet(0)], [pictureSet(0)], Buffer.from([0xfd, 0xf8, 0xf8, 0]));
const sampleOf = (...units: readonly Buffer[]) =>
  Buffer.concat(units.flatMap((unit) => [numbers(unit.length), unit]));
const unit = (type: number, ...bytes: number[]) => Buffer.from([0x60 | type, ...bytes]);
const idsUpTo = (last: number) => Array.from({ length: last + 1 }, (_, id) => id);

describe('the codec string', () => {
  test('has the profile, constraints and level', () => {
    expect(configuredCodec(configuration)).toBe('avc1.64001e');
  });

  test('needs a sequence parameter set, and lengths of four bytes', () => {
    expect(() => configuredCodec(avcConfiguration([], [pictureSet(0)]))).toThrow('no sequence parameter set');
    const short = Buffer.from(configuration);
    short[4] = 0xfd;
    expect(() => configuredCodec(short)).toThrow('another size');
  });

  test('of a truncated record is refused, wherever it ends', () => {
    const sets = avcConfiguration([sequenceSet(0), sequenceSet(1)], [pictureSet(0), pictureSet(1)]);
    for (let bytes = 0; bytes < sets.length; bytes += 1)
      expect(() => configuredCodec(sets.subarray(0, bytes))).toThrow();
  });
});

test.each([
  ['of an IDR picture', [unit(9), unit(7), unit(8), unit(6), unit(5, 1)], true],
  ['of another picture', [unit(9), unit(1, 1)], false],
  ['that begins with another picture', [unit(1, 1), unit(5, 1)], false],
  ['of data partitions', [unit(2, 1), unit(5, 1)], false],
  ['without a picture', [unit(9), unit(6)], false],
  ['without units', [], false],
  ['of empty units', [Buffer.alloc(0), Buffer.alloc(0), unit(5)], true],
] as const)('decoding starts at a sample %s: %s', (_, units, expected) => {
  expect(isIdrSample(sampleOf(...units))).toBe(expected);
});

test('a truncated unit of a sample is not read', () => {
  const sample = sampleOf(unit(9), unit(5, 1, 2));
  expect(isIdrSample(sample)).toBe(true);
  for (let bytes = 0; bytes < sample.length; bytes += 1)
    expect(isIdrSample(sample.subarray(0, bytes))).toBe(false);
  sample.writeUInt32BE(2 ** 32 - 1);
  expect(isIdrSample(sample)).toBe(false);
});

test.each([
  ['none', [unit(5, 1)], true],
  ['those of the section', [sequenceSet(0), pictureSet(0), unit(5, 1)], true],
  ['another sequence parameter set', [sequenceSet(0, [8]), pictureSet(0), unit(5, 1)], false],
  ['another picture parameter set', [sequenceSet(0), pictureSet(0, [8]), unit(5, 1)], false],
  ['one more', [sequenceSet(0), sequenceSet(1), pictureSet(0), unit(5, 1)], false],
  ['another one after the picture', [unit(5, 1), pictureSet(1)], false],
] as const)('a sample may have parameter sets: %s: %s', (_, units, expected) => {
  expect(isConfigured(configuration)(sampleOf(...units))).toBe(expected);
});

test('a configuration with none or several sequence parameter sets does not say which one a sample needs', () => {
  for (const sets of [[], [sequenceSet(0), sequenceSet(1)]])
    expect(isConfigured(avcConfiguration(sets, [pictureSet(0)]))(sampleOf(unit(5, 1)))).toBe(false);
});

test('a sample of very many units is not looked at', () => {
  const isOwn = isConfigured(avcConfiguration([sequenceSet(0)], [pictureSet(0)]));
  const units = (count: number) => sampleOf(...Array.from({ length: count }, () => unit(1, 1)));
  expect([isOwn(units(1000)), isOwn(units(1001))]).toEqual([true, false]);
});

describe('the id of new parameter sets', () => {
  const sets = (sequence: readonly number[], picture: readonly number[]) =>
    avcConfiguration(
      sequence.map((id) => sequenceSet(id)),
      picture.map((id) => pictureSet(id)),
    );

  test.each([
    [[], [], 0],
    [[0], [0], 1],
    [[0], [1], 2],
    [[1], [1], 0],
    [[0, 1, 3], [0], 2],
    [[0], idsUpTo(14), 15],
    [idsUpTo(29), [0], 30],
    // There is an id for another set, but it has no place in the record.
    [idsUpTo(30), [0], 30],
    [[...idsUpTo(29), 31], [0], 31],
    [[...idsUpTo(30).slice(1), 0], [0], 0],
    // All ids are taken.
    [[4], idsUpTo(31), 4],
    [[], idsUpTo(31), 0],
  ])('of %j and %j is %d', (sequence, picture, expected) => {
    expect(freeSetId(sets(sequence, picture))).toBe(expected);
  });
});

describe('an extended configuration', () => {
  const CODECS = 'avc1.640029';
  const declaring = (id: number, level = 0x29, end = [9]) => {
    const set = sequenceSet(id, end);
    set[3] = level;
    return set;
  };

  test('has equal sets once', () => {
    const own = avcConfiguration([declaring(0)], [pictureSet(0)], Buffer.from([1, 2]));
    // The encoder declares a lower level.
    const other = avcConfiguration([declaring(0, 0x0d)], [pictureSet(0)]);
    expect(extended(own, other, CODECS)).toEqual(own);
  });

  test('has other sets after its own, and keeps its beginning and its end', () => {
    const rest = Buffer.from([0xfd, 0xf8, 0xf8, 0]);
    const own = avcConfiguration([declaring(0)], [pictureSet(0)], rest);
    const other = avcConfiguration([declaring(1, 0x0d)], [pictureSet(1)]);
    const both = avcConfiguration([declaring(0), declaring(1)], [pictureSet(0), pictureSet(1)], rest);
    expect(extended(own, other, CODECS)).toEqual(both);
    expect(extended(both, other, CODECS)).toEqual(both);
    // The other one stays as it is.
    expect(other).toEqual(avcConfiguration([declaring(1, 0x0d)], [pictureSet(1)]));
  });

  test.each([
    ['sequence', avcConfiguration([declaring(0, 0x29, [8])], [pictureSet(1)])],
    ['picture', avcConfiguration([declaring(0)], [pictureSet(0, [8])])],
  ])('cannot have two %s parameter sets with one id', (_, other) => {
    const own = avcConfiguration([declaring(0)], [pictureSet(0)]);
    expect(() => extended(own, other, CODECS)).toThrow('have the same id');
  });

  test('cannot have sets of a profile with other fields', () => {
    const own = avcConfiguration([declaring(0)], [pictureSet(0)]);
    const other = avcConfiguration([sequenceSet(1, [9], 77)], [pictureSet(1)]);
    expect(() => extended(own, other, CODECS)).toThrow('has not used the profile');
  });

  test('has at most 31 sequence and 255 picture parameter sets', () => {
    const pictures = Array.from({ length: 255 }, (_, at) => pictureSet(0, [7, at]));
    const full = avcConfiguration(
      idsUpTo(30).map((id) => declaring(id)),
      pictures,
    );
    expect(extended(full, full, CODECS)).toEqual(full);
    const [oneMore, another] = [avcConfiguration([declaring(31)], []), avcConfiguration([], [pictureSet(1)])];
    for (const other of [oneMore, another])
      expect(() => extended(full, other, CODECS)).toThrow('too many parameter sets');
  });

  test('has the same sets when all ids were used', () => {
    let own = avcConfiguration([declaring(0, 0x29, [1])], [pictureSet(0)]);
    for (let generation = 0; generation < 40; generation += 1) {
      const id = freeSetId(own);
      own = extended(own, avcConfiguration([declaring(id, 0x0d)], [pictureSet(id)]), CODECS);
    }
    const ids = idsUpTo(30);
    expect(own).toEqual(
      avcConfiguration(
        ids.map((id) => declaring(id, 0x29, id === 0 ? [1] : [9])),
        ids.map((id) => pictureSet(id)),
      ),
    );
    // Another encoder would make other sets.
    const other = avcConfiguration([declaring(30, 0x29, [2])], [pictureSet(30)]);
    expect(() => extended(own, other, CODECS)).toThrow('have the same id');
  });
});

test('samples are read in linear time', async () => {
  const samplesOf = (size: number) =>
    // Empty units, small parameter sets, a picture at the end.
    [Buffer.alloc(0), Buffer.from([0x67]), Buffer.from([0x68, 1]), sequenceSet(0)].map((small) =>
      Buffer.concat([Buffer.alloc(size, sampleOf(small)), sampleOf(unit(5))]),
    );
  const sets = avcConfiguration(
    [Buffer.from([0x67])],
    [...Array(254).fill(Buffer.from([0x68])), Buffer.from([0x68, 1])],
  );
  await requireLinearTime(2 ** 22, samplesOf, (samples) => {
    for (const sample of samples) {
      isIdrSample(sample);
      isConfigured(sets)(sample);
    }
  });
});
