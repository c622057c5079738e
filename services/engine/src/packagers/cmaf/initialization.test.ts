import { describe, expect, test } from '@jest/globals';
import { numbers, type Section, section } from '../../../tests/support/cmaf-boxes.ts';
import { box, boxesIn, contentAt } from './boxes.ts';
import { readInitialization, timescaleOf, withConfiguration } from './initialization.ts';

const CONFIGURATION = Buffer.from('what a decoder needs');
const video = (parts: Section = {}) => section('vide', { configuration: CONFIGURATION, ...parts });
const audio = (parts: Section = {}) => section('soun', { configuration: CONFIGURATION, ...parts });
const DESCRIPTIONS = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'];

describe('an initialization section', () => {
  test.each([0, 1] as const)('of video is read, with a header of version %d', (version) => {
    expect(readInitialization(video({ version, defaults: [1, 2, 3] }), 'avcC')).toMatchObject({
      timescale: 12_800,
      trackId: 1,
      defaults: { duration: 1, size: 2, flags: 3 },
      configuration: CONFIGURATION,
    });
  });

  test('of audio is read', () => {
    expect(readInitialization(audio({ timescale: 44_100 }), 'esds')).toMatchObject({
      timescale: 44_100,
      configuration: CONFIGURATION,
    });
  });

  test('that is truncated is refused, wherever it ends', () => {
    const whole = video();
    for (let bytes = 0; bytes < whole.length; bytes += 1)
      expect(() => readInitialization(whole.subarray(0, bytes), 'avcC')).toThrow();
  });

  test('with a box of a wrong size is refused', () => {
    const whole = video();
    // All boxes that are read.
    for (const name of [
      'moov',
      'trak',
      'mdia',
      'mdhd',
      'hdlr',
      'minf',
      'stbl',
      'stsd',
      'avc1',
      'avcC',
      'trex',
    ])
      for (const size of [0, 1, 7, 2 ** 32 - 1]) {
        const changed = Buffer.from(whole);
        changed.writeUInt32BE(size, whole.indexOf(name) - 4);
        expect(() => readInitialization(changed, 'avcC')).toThrow();
      }
  });

  const twice = (name: string) => {
    const [first, movie] = boxesIn(video());
    const parts = boxesIn(movie?.content ?? Buffer.alloc(0)).flatMap(({ type, bytes }) =>
      type === name ? [bytes, bytes] : [bytes],
    );
    return Buffer.concat([first?.bytes ?? Buffer.alloc(0), box('moov', ...parts)]);
  };
  const withHandler = (handler: string) => {
    const changed = video();
    changed.write(handler, changed.indexOf('vide'));
    return changed;
  };

  test.each([
    ['another codec', video(), 'hvcC', 'The box hvcC is missing'],
    ['no timescale', video({ timescale: 0 }), 'avcC', 'no timescale'],
    ['two tracks', twice('trak'), 'avcC', 'several boxes trak'],
    ['defaults for two tracks', twice('mvex'), 'avcC', 'several boxes mvex'],
    ['other media', withHandler('text'), 'avcC', 'not one sample entry'],
    ['a file in its place', Buffer.from('WEBVTT'), 'avcC', 'truncated'],
    ['nothing', Buffer.alloc(0), 'avcC', 'moov is missing'],
  ])('with %s is refused', (_, bytes, configurationBox, message) => {
    expect(() => readInitialization(bytes, configurationBox)).toThrow(message);
  });

  test('with two sample entries is refused', () => {
    const whole = video();
    const entries = contentAt(whole, DESCRIPTIONS);
    const doubled = Buffer.concat([entries, entries.subarray(8)]);
    const grown = doubled.length - entries.length;
    const at = whole.indexOf(entries);
    const changed = Buffer.concat([whole.subarray(0, at), doubled, whole.subarray(at + entries.length)]);
    for (const name of DESCRIPTIONS) {
      const size = changed.indexOf(name) - 4;
      changed.writeUInt32BE(changed.readUInt32BE(size) + grown, size);
    }
    expect(() => readInitialization(changed, 'avcC')).toThrow('not one sample entry');
  });
});

describe('the normalized section', () => {
  const bytesOf = (parts: Section) => readInitialization(video(parts), 'avcC').bytes;

  test('has no names, no versions, and no bit rate', () => {
    const bytes = bytesOf({});
    for (const text of ['udta', 'btrt', 'Lavc', 'Lavf']) expect(bytes.includes(text)).toBe(false);
    for (const text of ['ftyp', 'mvhd', 'avcC', 'pasp', 'trex', CONFIGURATION])
      expect(bytes.includes(text)).toBe(true);
  });

  test('is equal for two runs, and different for another track', () => {
    const other: Section = { names: ['x264', 'Lavf61'], bitRate: null };
    expect(bytesOf(other)).toEqual(bytesOf({}));
    expect(bytesOf({ ...other, timescale: 90_000 })).not.toEqual(bytesOf({}));
    expect(bytesOf({ configuration: Buffer.from('another') })).not.toEqual(bytesOf({}));
  });

  test('is unchanged when it is read again', () => {
    const bytes = bytesOf({});
    expect(readInitialization(bytes, 'avcC').bytes).toEqual(bytes);
  });

  test('keeps the fields of audio', () => {
    const { bytes } = readInitialization(audio(), 'esds');
    expect(contentAt(bytes, DESCRIPTIONS).subarray(16, 44)).toEqual(Buffer.alloc(28, 2));
  });
});

describe('a section with another configuration', () => {
  test.each([0, 1, 19, 20, 21, 3000])('of %d bytes has correct sizes and is otherwise the same', (length) => {
    const { bytes } = readInitialization(video({ timescale: 30_000 }), 'avcC');
    const configuration = Buffer.alloc(length, 'y');
    const changed = withConfiguration(bytes, 'avcC', configuration);
    expect(changed.length).toBe(bytes.length + length - CONFIGURATION.length);
    const read = readInitialization(changed, 'avcC');
    expect(read).toMatchObject({ timescale: 30_000, configuration });
    expect(withConfiguration(changed, 'avcC', CONFIGURATION)).toEqual(bytes);
  });
});

test('the timescale is found in a header of either version', () => {
  expect(timescaleOf(video({ version: 0, timescale: 25 }))).toBe(25);
  expect(timescaleOf(video({ version: 1, timescale: 2 ** 32 - 1 }))).toBe(2 ** 32 - 1);
  expect(() => timescaleOf(box('moov', numbers(0)))).toThrow();
});
