import { expect, test } from '@jest/globals';
import { aacCodecString, avcCodecString, startsWithIdr } from './codec-strings.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const DELIMITER = '00000001 09f0';
const SPS = '00000001 67640028acd9';
const PPS = '000001 68eb';
const IDR = '000001 6588';
const SLICE = '000001 419a';
const PARTITION = '000001 429a';

test('profile and level of H.264 come from the sequence parameter set', () => {
  expect(avcCodecString(bytes(DELIMITER + SPS))).toBe('avc1.640028');
  expect(() => avcCodecString(bytes(DELIMITER + IDR))).toThrow('no sequence parameter set');
});

test.each([
  ['fff14c80', 'mp4a.40.2'],
  ['fff10c80', 'mp4a.40.1'],
  ['fff94c80', 'mp4a.40.2'],
])('the profile of AAC comes from its first header, %s', (header, expected) => {
  expect(aacCodecString(bytes(header))).toBe(expected);
});

test.each([
  ['another synchronization word', '00f14c80'],
  ['half a synchronization word', 'ffe14c80'],
  ['MPEG audio of another layer', 'fff34c80'],
  ['nothing', ''],
])('audio that begins with %s is refused', (_, header) => {
  expect(() => aacCodecString(bytes(header))).toThrow('does not begin with an ADTS header');
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
