import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { type Fragment, fragment } from '../../../tests/support/cmaf-boxes.ts';
import { ToolOutputError } from '../../sandbox/tool-output.ts';
import { box } from './boxes.ts';
import { isSegment, isSync, type Sample, samplesOf, segmentOf } from './fragments.ts';
import type { Initialization } from './initialization.ts';

const NOT_SYNC = 0x101_0000;
const SYNC = 0x200_0000;
const TRACK: Initialization = {
  timescale: 12_800,
  trackId: 1,
  defaults: { duration: 512, size: 3, flags: NOT_SYNC },
  configuration: Buffer.alloc(0),
  bytes: Buffer.alloc(0),
};
const SIZE = 0x200;
const FIRST_FLAGS = 4;
const ALL = 0xf01;

const media = Buffer.from('first, second');
const sample = (decodingTime: number, text: string, changes: Partial<Sample> = {}): Sample => ({
  decodingTime,
  presentationTime: decodingTime + 1024,
  duration: 512,
  flags: NOT_SYNC,
  bytes: Buffer.from(text),
  ...changes,
});
const read = (parts: Partial<Fragment>) =>
  samplesOf(fragment({ runs: [[0, SIZE, 2, 7, 6]], media, ...parts }), TRACK);

describe('a segment', () => {
  test.each([
    ['positive offsets', 2048, '00000f01'],
    ['no offsets', 0, '00000f01'],
    ['negative offsets', -1024, '01000f01'],
  ])('has its samples again: %s', (_, offset, versionAndFlags) => {
    const samples = [
      sample(900_000, 'one', { flags: SYNC, presentationTime: 900_000 + offset }),
      sample(900_512, 'three', { duration: 1 }),
      sample(900_513, 'five', { duration: 2 ** 32 - 1 }),
    ];
    const segment = segmentOf(samples, TRACK);
    expect(samplesOf(segment, TRACK)).toEqual(samples);
    expect(samples.map(isSync)).toEqual([true, false, false]);
    expect(segment.toString('hex')).toContain(`7472756e${versionAndFlags}`);
    // Two fragments, one after the other, are a segment, too.
    expect(samplesOf(Buffer.concat([segment, segment]), TRACK)).toEqual([...samples, ...samples]);
    expect(samplesOf(Buffer.concat([box('styp'), box('sidx'), segment, box('free')]), TRACK)).toEqual(
      samples,
    );
  });

  test('says where its media is, counted from its fragment', () => {
    const segment = segmentOf([sample(0, 'media')], TRACK);
    const run = segment.indexOf('trun');
    expect(segment.readUInt32BE(run + 12)).toBe(segment.indexOf('media'));
  });

  test('is of its track, with addresses that begin at its fragment', () => {
    const segment = segmentOf([sample(0, 'media')], { ...TRACK, trackId: 5 });
    expect(segment.toString('hex')).toContain('746668640002000000000005');
    expect(segment.toString('hex')).toContain('6d6668640000000000000001');
  });

  test('needs a sample', () => {
    expect(() => segmentOf([], TRACK)).toThrow('needs a sample');
  });

  test('that is truncated is refused, wherever it ends', () => {
    const segment = fragment({ runs: [[0, ALL, 2, 0, 512, 7, SYNC, 0, 512, 6, NOT_SYNC, 512]], media });
    expect(samplesOf(segment, TRACK)).toHaveLength(2);
    for (let bytes = 0; bytes < segment.length; bytes += 1)
      expect(() => samplesOf(segment.subarray(0, bytes), TRACK)).toThrow();
  });

  const whole = fragment({ runs: [[0, SIZE, 2, 7, 6]], media });
  const moof = whole.subarray(0, whole.indexOf('mdat') - 4);
  const mdat = whole.subarray(moof.length);

  test.each([
    ['no boxes', Buffer.alloc(0), 'no media'],
    ['other boxes only', box('styp'), 'no media'],
    ['media without a fragment', mdat, 'media without a fragment'],
    ['media twice', Buffer.concat([whole, mdat]), 'media without a fragment'],
    ['a fragment without media', moof, 'a fragment without media'],
    ['a fragment twice', Buffer.concat([moof, whole]), 'a fragment without media'],
    ['a fragment without a track', Buffer.concat([box('moof'), mdat]), 'traf is missing'],
    ['a fragment without a run', fragment({ runs: [], media }), 'does not describe all'],
    ['a fragment with nothing', fragment({ runs: [], media: Buffer.alloc(0) }), 'no media'],
    ['empty runs', fragment({ runs: [[0, 0, 0]], media: Buffer.alloc(0) }), 'no media'],
    ['zeros at its end', Buffer.concat([whole, Buffer.alloc(16)]), 'truncated'],
  ])('with %s is refused', (_, segment, message) => {
    expect(() => samplesOf(segment, TRACK)).toThrow(message);
  });

  test('is recognized by fragments that describe their media exactly, without its section', () => {
    const segment = segmentOf([sample(0, 'one'), sample(512, 'three')], TRACK);
    expect(isSegment(segment)).toBe(true);
    for (let bytes = 0; bytes < segment.length; bytes += 1)
      expect(isSegment(segment.subarray(0, bytes))).toBe(false);
    expect(isSegment(mdat)).toBe(false);
    // The boxes are whole, but the size of the first sample is another one.
    const changed = Buffer.from(segment);
    const size = segment.indexOf('trun') + 20;
    expect(segment.readUInt32BE(size)).toBe('one'.length);
    changed.writeUInt32BE('three'.length, size);
    expect(isSegment(changed)).toBe(false);
  });

  test('with a box of a wrong size is refused', () => {
    for (const size of [0, 1, 7, 2 ** 32 - 1])
      for (let at = 4; at < whole.length - media.length; at += 4) {
        const changed = Buffer.from(whole);
        // Each box of the fragment in turn.
        if (!/^[a-z]{4}$/.test(changed.toString('latin1', at, at + 4))) continue;
        changed.writeUInt32BE(size, at - 4);
        expect(() => samplesOf(changed, TRACK)).toThrow();
      }
  });
});

describe('the decoding time', () => {
  test.each([
    [0, 2n ** 32n - 1n],
    [1, 2n ** 32n - 1n],
    [1, 2n ** 48n],
  ] as const)('in version %d can be %d', (version, time) => {
    expect(read({ time: [version, time] }).map(({ decodingTime }) => decodingTime)).toEqual([
      Number(time),
      Number(time) + 512,
    ]);
  });

  test.each([2n ** 48n + 1n, 2n ** 64n - 1n])('cannot be %d', (time) => {
    expect(() => read({ time: [1, time] })).toThrow('too large');
  });
});

describe('a run', () => {
  test('has the defaults of the initialization section, unless it has fields', () => {
    expect(samplesOf(fragment({ runs: [[0, 0, 2]], media: Buffer.from('onetwo') }), TRACK)).toEqual(
      [sample(0, 'one'), sample(512, 'two')].map((each) => ({
        ...each,
        presentationTime: each.decodingTime,
      })),
    );
  });

  test.each([
    ['duration', 8, 0x100, [100, 200], (of: Sample) => of.duration, [512, 77, 200]],
    ['flags', 0x20, 0x400, [5, 6], (of: Sample) => of.flags, [NOT_SYNC, 77, 6]],
  ] as const)(
    'has its %s from the section, its fragment, or the sample',
    (_, flag, field, own, of, expected) => {
      const two = Buffer.from('onetwo');
      const lastOf = (parts: Partial<Fragment>) => of(read({ media: two, ...parts }).at(-1) as Sample);
      expect([
        lastOf({ runs: [[0, 0, 2]] }),
        lastOf({ runs: [[0, 0, 2]], header: [0x2_0000 | flag, 77] }),
        lastOf({ runs: [[0, field, 2, ...own]], header: [0x2_0000 | flag, 77] }),
      ]).toEqual(expected);
    },
  );

  test('reads the fields of its fragment that come before others', () => {
    const header = [0x2_003b, 0, 0, 1, 9, 4, SYNC] as const;
    const samples = read({ header, runs: [[0, 0, 2]], media: Buffer.from('fourfive') });
    expect(samples.map(({ duration, flags, bytes }) => [duration, flags, bytes.toString()])).toEqual([
      [9, SYNC, 'four'],
      [9, SYNC, 'five'],
    ]);
  });

  test('has other flags for the first sample', () => {
    const flags = (runs: Fragment['runs']) => read({ runs }).map((each) => each.flags);
    expect(flags([[0, SIZE | FIRST_FLAGS, 2, SYNC, 7, 6]])).toEqual([SYNC, NOT_SYNC]);
    expect(flags([[0, SIZE | FIRST_FLAGS | 0x400, 2, SYNC, 7, 1, 6, 2]])).toEqual([SYNC, 2]);
    // And an offset of its media before them.
    expect(flags([[0, SIZE | FIRST_FLAGS | 1, 2, 99, SYNC, 7, 6]])).toEqual([SYNC, NOT_SYNC]);
  });

  test.each([
    [0, 2 ** 32 - 512, 2 ** 32 - 512],
    [1, -512, -512],
    [1, 512, 512],
  ] as const)('has composition offsets: in version %d, %d is %d', (version, written, expected) => {
    const [only] = samplesOf(
      fragment({ time: [1, 900_000n], runs: [[version, SIZE | 0x800, 1, media.length, written]], media }),
      TRACK,
    );
    expect(only?.presentationTime).toBe(900_000 + expected);
  });

  test('continues the run before it', () => {
    const samples = read({
      runs: [
        [0, SIZE, 1, 7],
        [0, SIZE, 1, 6],
      ],
    });
    expect(samples.map(({ decodingTime, bytes }) => [decodingTime, bytes.toString()])).toEqual([
      [0, 'first, '],
      [512, 'second'],
    ]);
  });

  test.each([
    ['more samples than it has fields for', [0, SIZE, 3, 7, 6], 'out of range'],
    ['any number of samples', [0, SIZE, 2 ** 32 - 1, 7, 6], 'out of range'],
    ['any number of samples without fields', [0, 0, 2 ** 32 - 1], 'is truncated'],
    ['empty samples', [0, SIZE, 3, 7, 0, 6], 'A sample is empty'],
    ['samples beyond its media', [0, SIZE, 2, 7, 7], 'is truncated'],
    ['a sample of 4 GiB', [0, SIZE, 2, 7, 2 ** 32 - 1], 'is truncated'],
    ['too few samples', [0, SIZE, 1, 7], 'does not describe all'],
  ] as const)('with %s is refused', (_, run, message) => {
    expect(() => read({ runs: [run as unknown as Fragment['runs'][number]] })).toThrow(message);
  });
});

test('more samples than a segment has are refused before they take memory', () => {
  const track = { ...TRACK, defaults: { ...TRACK.defaults, size: 1 } };
  const of = (count: number) => fragment({ runs: [[0, 0, count]], media: Buffer.alloc(count) });
  expect(samplesOf(of(20_000), track)).toHaveLength(20_000);
  expect(() => samplesOf(of(20_001), track)).toThrow(ToolOutputError);
  const many = Buffer.concat(Array.from({ length: 8 }, () => of(4000)));
  expect(() => samplesOf(many, track)).toThrow('too many samples');
});

test('segments are read and written in linear time', async () => {
  const segmentsOf = (size: number) => [
    // Of frames, of fragments, of boxes, and of bytes.
    fragment({ runs: [[0, 0, Math.ceil(size / 64)]], media: Buffer.alloc(3 * Math.ceil(size / 64)) }),
    Buffer.concat(Array(Math.ceil(size / 128)).fill(fragment({ runs: [[0, 0, 1]], media: Buffer.alloc(3) }))),
    Buffer.alloc(8 * Math.ceil(size / 8), box('moof')),
    fragment({ runs: [[0, SIZE, 1, size]], media: Buffer.alloc(size) }),
  ];
  await requireLinearTime(2 ** 20, segmentsOf, (segments) => {
    for (const segment of segments)
      try {
        segmentOf(samplesOf(segment, TRACK), TRACK);
      } catch {
        // A segment may be refused.
      }
  });
});
