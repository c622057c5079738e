import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import {
  avcConfiguration,
  fragment,
  numbers,
  pictureSet,
  section,
  sequenceSet,
} from '../../../tests/support/cmaf-boxes.ts';
import {
  av1Configuration,
  hevcConfiguration,
  nalUnit,
  obu,
  sampleOf,
} from '../../../tests/support/encoded-units.ts';
import { AAC } from '../../encoders/aac/aac.ts';
import { AV1 } from '../../encoders/av1/av1.ts';
import { H264 } from '../../encoders/h264/h264.ts';
import { HEVC } from '../../encoders/hevc/hevc.ts';
import { ToolOutputError } from '../../sandbox/tool-output.ts';
import { InvalidSegmentError } from '../packager.ts';
import { box } from './boxes.ts';
import { CMAF } from './cmaf.ts';
import { type Sample, segmentOf } from './fragments.ts';
import { readInitialization } from './initialization.ts';

const SYNC = 0x200_0000;
const NOT_SYNC = 0x101_0000;
const SECOND = 12_800;
const FRAME = 512;

const init = section('vide');
const track = readInitialization(init, 'avcC');
const reader = CMAF.open(H264.reader, init);

const unit = (...bytes: number[]) => Buffer.concat([numbers(bytes.length), Buffer.from(bytes)]);
const IDR = unit(0x65, 1, 2, 3);
const OTHER = unit(0x41, 1);

/** Frames of video with B-frames: a key frame at each of `keys`. */
function frames(count: number, keys: readonly number[] = [0], first: Buffer = IDR): Sample[] {
  return Array.from({ length: count }, (_, at) => ({
    decodingTime: 10 * SECOND + at * FRAME,
    presentationTime: 10 * SECOND + (at + 2) * FRAME,
    duration: FRAME,
    flags: keys.includes(at) ? SYNC : NOT_SYNC,
    bytes: keys.includes(at) ? first : OTHER,
  }));
}

const fileOf = (bytes: Buffer) => ({
  handle: { createReadStream: () => Readable.from([bytes]) } as unknown as FileHandle,
  bytes: bytes.length,
});
const read = (bytes: Buffer, isCopy = false) => reader.read(fileOf(bytes), { isCopy });
const segment = segmentOf(frames(4), track);

test('a segment of video is described', async () => {
  expect(await read(segment)).toEqual({
    codecs: 'avc1.64001e',
    start: 10.08,
    last: 10.2,
    units: 4,
    configuration: null,
    initialization: reader.initialization,
  });
  expect([reader.start(segment), reader.delay(segment)]).toEqual([10.08, 0.08]);
});

test('the last frame of a segment is that which is shown last', async () => {
  const [first, second, ...others] = frames(4) as [Sample, Sample];
  const late = { ...second, presentationTime: second.presentationTime + 5 * FRAME };
  expect(await read(segmentOf([first, late, ...others], track))).toMatchObject({ last: 10.32 });
});

const esds = Buffer.from(
  '00000000' + '0319' + '000100' + '0411' + '40150000000001f4000001f400' + '0502' + '1210' + '0601' + '02',
  'hex',
);

test('a segment of audio is described', async () => {
  const sound = section('soun', { configuration: esds, timescale: 48_000, defaults: [1024, 4, SYNC] });
  const audio = CMAF.open(AAC.reader, sound);
  const bytes = fragment({ time: [1, 480_000n], runs: [[0, 0, 3]], media: Buffer.alloc(12) });
  expect(await audio.read(fileOf(bytes), { isCopy: true })).toEqual({
    codecs: 'mp4a.40.2',
    start: 10,
    last: 10.064,
    units: 3,
    configuration: null,
    initialization: audio.initialization,
  });
  expect(audio.frameSeconds(bytes)).toBe(1024 / 48_000);
});

describe('a segment that is not as ffmpeg writes it', () => {
  test.each([
    ['another file', Buffer.from('the secret that seals all keys')],
    ['a transport stream', Buffer.alloc(188, 'G')],
    ['a file', Buffer.concat([box('ftyp'), segment])],
    ['media only', box('mdat', Buffer.alloc(9))],
    ['nothing', Buffer.alloc(0)],
    ['many boxes', Buffer.alloc(800_000, box('styp'))],
    [
      'many samples',
      fragment({ header: [0x2_0010, 1], runs: [[0, 0, 30_000]], media: Buffer.alloc(30_000) }),
    ],
  ])('is hostile: %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(ToolOutputError);
  });

  test('may be truncated: another try may succeed', async () => {
    const whole = Buffer.concat([segment, segmentOf(frames(4), track)]);
    for (let bytes = 8; bytes < whole.length; bytes += 1)
      if (bytes !== segment.length)
        await expect(read(whole.subarray(0, bytes))).rejects.toMatchObject({
          code: 'internal_error',
          retryable: true,
        });
    const zeros = Buffer.concat([segment, Buffer.alloc(100)]);
    await expect(read(zeros)).rejects.toMatchObject({ retryable: true });
  });

  test.each([
    ['begins with another frame', frames(4, [1]), true],
    ['declares a frame as a key frame', frames(4, [0], OTHER), true],
    ['does not declare its key frame', frames(4).map((each) => ({ ...each, flags: NOT_SYNC })), true],
    ['changes its parameter sets', frames(4, [0], Buffer.concat([unit(0x67, 1), IDR])), true],
  ])('can be due to the source of a stream copy: it %s', async (_, samples) => {
    await expect(read(segmentOf(samples, track), true)).rejects.toThrow(InvalidSegmentError);
  });

  test('may repeat its parameter sets, and an encoder may write any', async () => {
    const own = sequenceSet(0);
    const repeated = segmentOf(frames(2, [0], Buffer.concat([numbers(own.length), own, IDR])), track);
    expect(await read(repeated, true)).toMatchObject({ units: 2 });
    const changed = segmentOf(frames(2, [0], Buffer.concat([unit(0x67, 1), IDR])), track);
    expect(await read(changed, false)).toMatchObject({ units: 2 });
  });
});

describe('the I-frames of a segment', () => {
  test('are segments of one frame, at most one in the given time', async () => {
    const bytes = segmentOf(frames(60, [0, 10, 25, 40, 50]), track);
    const iFrames = await reader.iFrames(Readable.from([bytes]), 1);
    expect(iFrames.map(({ start, codecs }) => [start, codecs])).toEqual([
      [10.08, 'avc1.64001e'],
      [11.08, 'avc1.64001e'],
      [12.08, 'avc1.64001e'],
    ]);
    for (const iFrame of iFrames)
      expect(await read(iFrame.segment)).toMatchObject({ start: iFrame.start, last: iFrame.start, units: 1 });
    // Each lasts until the next one, and the last one until the end of the segment.
    expect(iFrames.map((iFrame) => reader.frameSeconds(iFrame.segment))).toEqual([1, 1, 0.4]);
  });

  test('of a truncated segment are refused', async () => {
    const cut = segment.subarray(0, segment.length - 1);
    await expect(reader.iFrames(Readable.from([cut]), 1)).rejects.toThrow('truncated');
  });
});

describe('the groups of pictures of a segment', () => {
  test('have all its frames', async () => {
    const groups = reader.groups(segmentOf(frames(60, [0, 25, 50]), track));
    expect(groups.map(({ start, units }) => [start, units])).toEqual([
      [10.08, 25],
      [11.08, 25],
      [12.08, 10],
    ]);
    const joined = Buffer.concat(groups.map((group) => CMAF.joined(group.segment, { after: segment })));
    expect(await read(joined)).toMatchObject({ start: 10.08, units: 60 });
  });

  test('begin with the segment', () => {
    expect(() => reader.groups(segmentOf(frames(4, [1]), track))).toThrow('cannot start');
    expect(() => reader.groups(segment.subarray(8))).toThrow();
  });
});

describe('the initialization section', () => {
  test('is that of the reader, normalized', () => {
    expect(Buffer.from(reader.initialization ?? '', 'base64')).toEqual(track.bytes);
    expect(CMAF.trackOf(init, H264.reader)).toMatchObject({ timescale: SECOND });
  });

  test.each([
    ['missing', null],
    ['empty', Buffer.alloc(0)],
    ['of another codec', section('soun', { configuration: esds })],
    ['without parameter sets', section('vide', { configuration: avcConfiguration([], []) })],
  ])('cannot be %s', (_, bytes) => {
    expect(() => CMAF.open(H264.reader, bytes)).toThrow();
  });

  test('of a clip needs both', () => {
    expect(() => CMAF.extended(null, init, H264, 'avc1.64001e')).toThrow('is missing');
    expect(() => CMAF.extended(init, null, H264, 'avc1.64001e')).toThrow('is missing');
  });

  test('is extended by the parameter sets of another one', () => {
    const other = section('vide', {
      configuration: avcConfiguration([sequenceSet(1)], [pictureSet(1)]),
      names: ['other', 'other'],
    });
    const both = CMAF.extended(init, other, H264, 'avc1.64001e');
    expect(CMAF.trackOf(both, H264.reader).configuration).toEqual(
      avcConfiguration([sequenceSet(0), sequenceSet(1)], [pictureSet(0), pictureSet(1)]),
    );
    expect(CMAF.extended(both, other, H264, 'avc1.64001e')).toEqual(both);
    expect(CMAF.open(H264.reader, both).start(segment)).toBe(10.08);
  });

  test('cannot be extended by that of another clock', () => {
    const other = section('vide', { timescale: 90_000 });
    expect(() => CMAF.extended(init, other, H264, 'avc1.64001e')).toThrow('different clocks');
  });

  test('of a continued rendition sets the clock of the next one', () => {
    const options = CMAF.segmentOptions('output/init.mp4', section('vide', { timescale: 30_000 })).join(' ');
    expect(options).toContain('video_track_timescale=30000');
    expect(CMAF.segmentOptions('output/init.mp4').join(' ')).not.toContain('video_track_timescale');
  });
});

describe('the initialization section of a codec whose encoder knows it only with the first frame', () => {
  /** Of 640x360. The bits of coding tools are all that differs. */
  const header = (bits: number) =>
    obu(1, [...Buffer.from('0000000cc4ff67', 'hex'), bits, ...Buffer.from('be0404040410', 'hex')]);
  const early = av1Configuration({ level: 5 }, header(1));
  const av1 = section('vide', { configuration: early, box: ['av01', 'av1C'] });
  const ofAv1 = CMAF.open(AV1.reader, av1);
  const av1Track = readInitialization(av1, 'av1C');
  const keyFrame = (bits: number) => Buffer.concat([header(bits), obu(6, [0x10, 7])]);
  const sampled = (first: Buffer, ...others: readonly Buffer[]) =>
    segmentOf(
      frames(1 + others.length).map((each, at) => ({ ...each, bytes: [first, ...others][at] as Buffer })),
      av1Track,
    );
  const readAv1 = (bytes: Buffer, isCopy = false) => ofAv1.read(fileOf(bytes), { isCopy });

  test('has what the first frame says, and nothing else changes', async () => {
    const { initialization, ...info } = await readAv1(sampled(keyFrame(2), obu(6, [0x30])));
    expect(info).toEqual({
      codecs: 'av01.0.05M.08',
      start: 10.08,
      last: 10.12,
      units: 2,
      configuration: null,
    });
    const completed = section('vide', {
      configuration: av1Configuration({ level: 5 }, header(2)),
      box: ['av01', 'av1C'],
    });
    expect(initialization).toBe(CMAF.open(AV1.reader, completed).initialization);
    expect(initialization).not.toBe(ofAv1.initialization);
  });

  test('is the same for all segments', async () => {
    const [first, second] = [
      await readAv1(sampled(keyFrame(2), obu(6, [0x30]))),
      await readAv1(sampled(keyFrame(2))),
    ];
    expect(first.initialization).toBe(second.initialization);
    expect((await readAv1(sampled(keyFrame(1)))).initialization).toBe(ofAv1.initialization);
  });

  test('configures all frames of a stream copy', async () => {
    const repeated = sampled(keyFrame(2), Buffer.concat([header(2), obu(6, [0x30])]));
    expect(await readAv1(repeated, true)).toMatchObject({ units: 2 });
    const changed = sampled(keyFrame(2), Buffer.concat([header(1), obu(6, [0x30])]));
    await expect(readAv1(changed, true)).rejects.toThrow(InvalidSegmentError);
  });

  test('describes the same picture in a stream copy', async () => {
    const larger = obu(1, Buffer.from('0000000cc4ff6801be0404040410', 'hex'));
    const first = Buffer.concat([larger, obu(6, [0x10, 7])]);
    await expect(readAv1(sampled(first), true)).rejects.toThrow(InvalidSegmentError);
  });

  test('needs a key frame', async () => {
    for (const first of [obu(6, [0x10]), Buffer.concat([header(2), obu(6, [0x30])]), Buffer.alloc(5, 0xff)])
      await expect(readAv1(sampled(first))).rejects.toThrow(InvalidSegmentError);
  });
});

test('a segment of HEVC is described by its section', async () => {
  const sets = [nalUnit(32, 1), nalUnit(33, 2), nalUnit(34, 3)];
  const configuration = hevcConfiguration({}, ...sets.map((set) => [set]));
  const hevc = CMAF.open(HEVC.reader, section('vide', { configuration, box: ['hvc1', 'hvcC'] }));
  const frame = (...units: Buffer[]) => segmentOf(frames(2, [0, 1], sampleOf(...units)), track);
  const readHevc = (bytes: Buffer) => hevc.read(fileOf(bytes), { isCopy: true });
  expect(await readHevc(frame(...sets, nalUnit(20, 4)))).toEqual({
    codecs: 'hvc1.1.6.L93.90',
    start: 10.08,
    // Of video, the time at which the last frame is shown, not its end.
    last: 10.12,
    units: 2,
    configuration: null,
    initialization: hevc.initialization,
  });
  for (const units of [[nalUnit(1, 4)], [nalUnit(33, 9), nalUnit(20, 4)]])
    await expect(readHevc(frame(...units))).rejects.toThrow(InvalidSegmentError);
});
