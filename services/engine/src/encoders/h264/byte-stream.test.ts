import { expect, test } from '@jest/globals';
import { codecString, startsWithIdr } from './byte-stream.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const DELIMITER = '00000001 09f0';
const SPS = '00000001 67640028acd9';
const PPS = '000001 68eb';
const IDR = '000001 6588';
const SLICE = '000001 419a';
const PARTITION = '000001 429a';

test('profile and level of H.264 come from the sequence parameter set', () => {
  expect(codecString(bytes(DELIMITER + SPS))).toBe('avc1.640028');
  expect(() => codecString(bytes(DELIMITER + IDR))).toThrow('no sequence parameter set');
});

test.each([
  ['parameter sets and an IDR picture', DELIMITER + SPS + PPS + IDR + SLICE, true],
  ['a partition of a non-IDR picture', DELIMITER + SPS + PPS + PARTITION + IDR, false],
  ['no sequence parameter set', DELIMITER + PPS + IDR, false],
  ['a non-IDR picture', DELIMITER + SPS + PPS + SLICE + IDR, false],
  ['no picture parameter set', DELIMITER + SPS + IDR, false],
  ['parameter sets after the IDR picture', DELIMITER + IDR + SPS + PPS, false],
  ['no slice', DELIMITER + SPS + PPS, false],
])('decoding can start at a stream with %s: %s', (_, stream, expected) => {
  expect(startsWithIdr(bytes(stream))).toBe(expected);
});
