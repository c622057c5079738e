import { describe, expect, test } from '@jest/globals';
import { configuredCodec } from './elementary-stream-descriptor.ts';

/** As ffmpeg writes it for AAC-LC at 44.1 kHz in stereo. */
const ESDS = Buffer.from(
  '00000000' +
    '0380808025' +
    '000100' +
    '0480808017' +
    '40150000000001f4000001f400' +
    '0580808005' +
    '1210' +
    '56e500' +
    '0680808001' +
    '02',
  'hex',
);

describe('the codec string of audio', () => {
  test('has the object type', () => {
    expect(configuredCodec(ESDS)).toBe('mp4a.40.2');
  });

  test('is found with short lengths', () => {
    const short =
      '00000000' +
      '0319' +
      '000100' +
      '0411' +
      '40150000000001f4000001f400' +
      '0502' +
      '2a10' +
      '0601' +
      '02';
    expect(configuredCodec(Buffer.from(short, 'hex'))).toBe('mp4a.40.5');
  });

  test('is found with lengths of two bytes', () => {
    const long = Buffer.concat([
      Buffer.from(
        `${'00000000' + '038148' + '000100' + '0413'}40${'00'.repeat(12)}${'0502' + '1210'}`,
        'hex',
      ),
      Buffer.alloc(300),
    ]);
    expect(configuredCodec(long)).toBe('mp4a.40.2');
    expect(() => configuredCodec(long.subarray(0, 206))).toThrow('descriptor 3 is truncated');
    expect(configuredCodec(long.subarray(0, 207))).toBe('mp4a.40.2');
  });

  test.each([
    ['MPEG audio', ESDS.indexOf('4015', 0, 'hex'), 0x6b, 'not MPEG-4 audio'],
    ['no stream', 4, 9, 'descriptor 3 is missing'],
    ['no configuration', ESDS.indexOf('0480', 0, 'hex'), 9, 'descriptor 4 is missing'],
    ['nothing for the decoder', ESDS.indexOf('0580', 0, 'hex'), 9, 'descriptor 5 is missing'],
    ['a length of 256 MiB', 5, 0xff, 'descriptor 3 is truncated'],
  ])('is missing with %s', (_, at, value, message) => {
    const changed = Buffer.from(ESDS);
    changed[at] = value;
    expect(() => configuredCodec(changed)).toThrow(message);
  });

  test('of a truncated box is refused, wherever it ends', () => {
    for (let bytes = 0; bytes < ESDS.length; bytes += 1)
      expect(() => configuredCodec(ESDS.subarray(0, bytes))).toThrow();
  });
});
