import { describe, expect, test } from '@jest/globals';
import { ALTERNATIVE_CODECS, type RenditionName } from '../renditions.ts';
import { CODEC_PIECE, type CodecPieceTask } from './codec-piece-task.ts';
import { MAX_RANGES, PIECE } from './piece-task.ts';
import { makesSegment, optionalTaskSchema, type Task, taskSchema, weightOf } from './tasks.ts';

/** The segments 2 and 3 of a video. */
const FRAMES = {
  firstSegment: 2,
  firstFrame: 100,
  frames: 200,
  segmentStarts: [100, 250],
  keyFrames: [100, 150, 200, 250],
  seek: 3.5,
} as const;

const inCodec = (codec: CodecPieceTask['codec']): CodecPieceTask => ({
  kind: 'codec_piece',
  codec,
  ...FRAMES,
});
const plain: Task = { kind: 'piece', ...FRAMES, firstIFrame: 4, iFrames: 8 };

/** Whether a task makes a segment of each of these renditions. */
const making = (task: Task, names: readonly RenditionName[], sequence = 2, isCopy = false) =>
  names.filter((rendition) => makesSegment(task, { rendition, sequence, isCopy }));

const ALL = ['360p', '1080p', '360p-av1', '1080p-av1', '720p-hevc', 'audio', 'audio2', 'iframes'] as const;

describe('a piece in another codec', () => {
  test('makes the segments of its renditions, and a piece those of H.264 and the I-frames', () => {
    expect(making(inCodec('av1'), ALL)).toEqual(['360p-av1', '1080p-av1']);
    expect(making(inCodec('hevc'), ALL)).toEqual(['720p-hevc']);
    expect(making(plain, ALL)).toEqual(['360p', '1080p', 'iframes']);
  });

  test('makes its own segments alone', () => {
    for (const task of [inCodec('av1'), plain]) {
      const [name] = task.kind === 'piece' ? (['720p'] as const) : (['720p-av1'] as const);
      const made = [0, 1, 2, 3, 4, 5].filter((sequence) => making(task, [name], sequence).length > 0);
      expect(made).toEqual([2, 3]);
    }
  });

  test('makes the highest rendition although that of H.264 is a stream copy', () => {
    expect(making(inCodec('av1'), ['1080p-av1'], 2, true)).toEqual(['1080p-av1']);
    expect(making(plain, ['1080p'], 2, true)).toEqual([]);
  });

  test('is optional, and a piece is not', () => {
    expect(optionalTaskSchema.parse(inCodec('hevc'))).toEqual(inCodec('hevc'));
    expect(optionalTaskSchema.safeParse(plain).error?.issues[0]?.message).toContain(
      'cannot be ready without',
    );
    expect([CODEC_PIECE.mayBeOptional, PIECE.mayBeOptional]).toEqual([true, false]);
  });

  test('weighs as many frames as it has', () => {
    expect([weightOf(inCodec('av1'), 9000), weightOf(plain, 9000)]).toEqual([200, 200]);
  });

  test('names a codec other than H.264, and stores no I-frames', () => {
    expect(ALTERNATIVE_CODECS.map((codec) => taskSchema.parse(inCodec(codec)))).toEqual(
      ALTERNATIVE_CODECS.map(inCodec),
    );
    for (const codec of ['h264', 'vp9', undefined])
      expect(taskSchema.safeParse({ ...inCodec('av1'), codec }).success).toBe(false);
    expect(taskSchema.parse({ ...inCodec('av1'), firstIFrame: 4, iFrames: 8 })).toEqual(inCodec('av1'));
    expect(taskSchema.safeParse({ kind: 'piece', ...FRAMES }).success).toBe(false);
  });

  test('reads some parts of the source at most', () => {
    const reading = (bytes: readonly (readonly [number, number])[]) =>
      taskSchema.safeParse({ ...inCodec('av1'), bytes });
    const parts = (count: number) => Array.from({ length: count }, (_, at) => [10 * at, 5] as const);
    expect(reading(parts(3)).data).toEqual({ ...inCodec('av1'), bytes: parts(3) });
    expect([reading(parts(MAX_RANGES)).success, reading(parts(MAX_RANGES + 1)).success]).toEqual([
      true,
      false,
    ]);
    for (const part of [
      [0, 0],
      [-1, 5],
      [0.5, 5],
    ] as const)
      expect(reading([part]).success).toBe(false);
  });
});
