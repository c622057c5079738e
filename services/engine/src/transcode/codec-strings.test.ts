import { expect, test } from '@jest/globals';
import { aacCodecString, avcCodecString } from './codec-strings.ts';

/** One packet of a transport stream that begins a PES packet, its payload at the end behind stuffing. */
function packet(pid: number, payload: Buffer): Buffer {
  const pes = Buffer.concat([Buffer.from('000001e00000808005', 'hex'), Buffer.alloc(5), payload]);
  const stuffing = 188 - 4 - 1 - pes.length;
  const header = Buffer.from([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x30, stuffing]);
  return Buffer.concat([header, Buffer.alloc(stuffing, 0xff), pes]);
}

const TABLE = packet(0x1000, Buffer.from('0000000167ffffff', 'hex'));

test('profile and level of H.264 come from the parameter set behind the delimiter', () => {
  const picture = packet(0x100, Buffer.from('0000000109f00000000167640028acd9', 'hex'));
  expect(avcCodecString(Buffer.concat([TABLE, picture]))).toBe('avc1.640028');
});

test.each([
  ['fff14c80', 'mp4a.40.2'],
  ['fff10c80', 'mp4a.40.1'],
])('the profile of AAC comes from its first header, %s', (header, expected) => {
  expect(aacCodecString(Buffer.concat([TABLE, packet(0x100, Buffer.from(header, 'hex'))]))).toBe(expected);
});

test('what is no segment of ours is refused', () => {
  expect(() => avcCodecString(Buffer.alloc(188))).toThrow('No transport stream packet at byte 0');
  expect(() => avcCodecString(TABLE)).toThrow('no sequence parameter set');
  expect(() => aacCodecString(packet(0x100, Buffer.from('0102', 'hex')))).toThrow(
    'does not begin with an ADTS header',
  );
});
