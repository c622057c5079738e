import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { av1Configuration, obu } from '../../../tests/support/encoded-units.ts';
import { configuredCodec, isConfigured, withHeaderOf } from './configuration.ts';
import { SEQUENCE_HEADER } from './obus.ts';

const METADATA = 5;
const FRAME = 6;

const header = obu(SEQUENCE_HEADER, [0, 0, 0, 1]);
const other = obu(SEQUENCE_HEADER, [0, 0, 0, 2]);
const keyFrame = obu(FRAME, [0x10]);

describe('the codec string', () => {
  test.each([
    // As SVT-AV1 writes it at 320x180.
    ['81010d00', 'av01.0.01M.08'],
    // The examples of the specification.
    ['81044c00', 'av01.0.04M.10'],
    ['81050c00', 'av01.0.05M.08'],
    ['810dcc00', 'av01.0.13H.10'],
    ['81080c00', 'av01.0.08M.08'],
    // The profiles High and Professional, the latter with 12 bits, and the highest level.
    ['81340000', 'av01.1.20M.08'],
    ['81536000', 'av01.2.19M.12'],
    ['811f8c00', 'av01.0.31H.08'],
    // Twelve bits need the flag of more than eight.
    ['81012000', 'av01.0.01M.08'],
  ])('of %s is %s', (configuration, codecs) => {
    expect(configuredCodec(Buffer.from(configuration, 'hex'))).toBe(codecs);
  });

  test('of a truncated record is refused, wherever it ends', () => {
    for (let bytes = 0; bytes < 4; bytes += 1)
      expect(() => configuredCodec(av1Configuration({}).subarray(0, bytes))).toThrow('truncated');
  });
});

describe('the configuration of a stream', () => {
  const metadata = obu(METADATA, [1]);
  /** As SVT-AV1 1.4 writes it before and after it has chosen its tools, and with another size. */
  const [early, final, larger] = [
    '0000000cc4ff6700be0404040410',
    '0000000cc4ff673efe4404040410',
    '0000000cc4ff683efe4404040410',
  ].map((hex) => obu(SEQUENCE_HEADER, Buffer.from(hex, 'hex')));
  const sample = Buffer.concat([metadata, final ?? header, keyFrame]);
  const configured = (...units: (Buffer | undefined)[]) =>
    av1Configuration({ level: 5 }, ...units.map((unit) => unit ?? header));

  test('has the sequence header of its first sample, and no other unit', () => {
    for (const units of [[early, metadata], [final], []])
      expect(withHeaderOf(configured(...units), sample)).toEqual(configured(final));
  });

  test('is not that of a copy if the muxer has a header of another picture, or one that cannot be read', () => {
    const isOwn = (ofMuxer: Buffer) => isConfigured(configured(final), ofMuxer)(sample);
    expect([configured(early), configured(final), configured()].map(isOwn)).toEqual([true, true, true]);
    expect([configured(larger), configured(other), configured(early, larger)].map(isOwn)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test.each([
    ['without one', keyFrame, 'no sequence header'],
    ['that is empty', Buffer.alloc(0), 'no sequence header'],
    ['that is truncated', header.subarray(0, -1), 'is truncated'],
  ])('cannot come from a sample %s', (_, sample, message) => {
    expect(() => withHeaderOf(configured(early), sample)).toThrow(message);
  });
});

test.each([
  ['none', [keyFrame], true],
  ['that of the section', [header, keyFrame], true],
  ['that of the section twice', [header, header, keyFrame], true],
  ['another one', [other, keyFrame], false],
  ['another one after the frame', [header, keyFrame, other], false],
] as const)('a sample may have sequence headers: %s: %s', (_, units, expected) => {
  expect(isConfigured(av1Configuration({}, header))(Buffer.concat(units))).toBe(expected);
});

test('players may not decode the high tier, or samples of several layers', () => {
  expect(isConfigured(av1Configuration({ flags: 0x8d }, header))(keyFrame)).toBe(false);
  // With an extension of the header.
  const ofLayer = Buffer.from([(FRAME << 3) | 6, 0x08, 1, 0x10]);
  expect(isConfigured(av1Configuration({}, header))(Buffer.concat([keyFrame, ofLayer]))).toBe(false);
});

test('the size of a sequence header may be written with more bytes', () => {
  const padded = Buffer.concat([Buffer.from([0x0a, 0x84, 0x00]), header.subarray(2)]);
  expect(isConfigured(av1Configuration({}, header))(Buffer.concat([padded, keyFrame]))).toBe(true);
});

test('a configuration with none or several sequence headers does not say which one a sample needs', () => {
  for (const units of [[], [obu(METADATA, [1])], [header, header], [header, other]])
    expect(isConfigured(av1Configuration({}, ...units))(keyFrame)).toBe(false);
});

test('a damaged sample has another configuration', () => {
  const isOwn = isConfigured(av1Configuration({}, header));
  const sample = Buffer.concat([header, keyFrame]);
  for (let bytes = 1; bytes < sample.length; bytes += 1)
    if (bytes !== header.length) expect(isOwn(sample.subarray(0, bytes))).toBe(false);
  for (const byte of [0x00, 0xff]) expect(isOwn(Buffer.alloc(1000, byte))).toBe(false);
  expect(isOwn(Buffer.alloc(2 * 1001, obu(2, [])))).toBe(false);
});

test('samples are read in linear time', async () => {
  const isOwn = isConfigured(av1Configuration({}, header));
  const samplesOf = (size: number) =>
    // Units of some kilobytes: a sample of many small ones is not read to its end.
    [obu(SEQUENCE_HEADER, Buffer.alloc(8000)), obu(FRAME, Buffer.alloc(8000)), header].map((unit) =>
      Buffer.alloc(size, unit),
    );
  await requireLinearTime(2 ** 22, samplesOf, (samples) => {
    for (const sample of samples) isOwn(sample);
  });
});
