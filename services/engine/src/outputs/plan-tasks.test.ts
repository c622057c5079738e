import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import type { Task } from '@framelane/contracts/outputs/tasks';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan, videoTrack } from '../../tests/support/tracks.ts';
import { inCodec } from '../plan/alternatives.ts';
import { keyFramesOf } from '../plan/key-frames.ts';
import { planLadder } from '../plan/ladder.ts';
import { PieceBytes } from '../plan/piece-bytes.ts';
import type { ProbedSource } from '../source/probe.ts';
import type { VideoToCut } from './kinds.ts';
import { planOptionalTasks, planTasks } from './plan-tasks.ts';

const PIECE_SECONDS = 60;

/** A plan of a duration at 25 frames a second, unless `changes` say otherwise. */
function planOf(seconds: number, changes: Partial<EncodePlan> = {}): EncodePlan {
  const { numerator, denominator } = changes.frameRate ?? { numerator: 25, denominator: 1 };
  const frames = Math.round((seconds * numerator) / denominator);
  return encodePlan({ audio: [], duration: seconds, frames, ...changes });
}

/** A source with an entry point every `distance` seconds. */
function sourceOf(seconds: number, distance: number, container = 'mp4') {
  const count = Math.ceil(seconds / distance);
  return {
    container,
    gops: 'open_gop' as const,
    video: videoTrack(),
    keyFramesNeedOthers: false,
    layout: null,
    entryPoints: Array.from({ length: count }, (_, at) => at * distance),
    timeline: { cut: 0, frames: 25 * seconds, start: 0, duration: seconds, averageRate: 25, grid: null },
  };
}

function tasksOf(
  source: VideoToCut['source'] & Pick<ProbedSource, 'gops'>,
  plan: EncodePlan,
  pieceSeconds: number,
) {
  return planTasks({ source, encode: plan, keyFrames: keyFramesOf(plan, source.gops), pieceSeconds });
}

function piecesOf(
  source: Parameters<typeof tasksOf>[0],
  plan: EncodePlan,
  pieceSeconds = PIECE_SECONDS,
): PieceTask[] {
  const tasks = tasksOf(source, plan, pieceSeconds) ?? [];
  return tasks.filter((task) => task.kind === 'piece');
}

describe('the optional tasks of a video', () => {
  const optionalTasks = (codecs: AlternativeCodec[], pieceSeconds: number | null, seconds = 600) => {
    const encode = planOf(seconds, { audio: [audioPlan()], copiesVideo: true });
    const source = sourceOf(seconds, 2);
    const keyFrames = keyFramesOf(encode, source.gops);
    const alternatives = codecs.map((codec) => ({
      codec,
      videoRenditions: inCodec(codec, encode.videoRenditions),
    }));
    return planOptionalTasks({ source, encode, keyFrames, pieceSeconds, alternatives });
  };
  const codecPieces = (tasks: Task[]) => tasks.filter((task) => task.kind === 'codec_piece');

  test('do not exist if it has H.264 alone', () => {
    expect(optionalTasks([], PIECE_SECONDS)).toEqual([]);
    expect(optionalTasks([], null)).toEqual([]);
  });

  test('make each further codec in pieces of about the same duration, all segments once', () => {
    const tasks = codecPieces(optionalTasks(['av1', 'hevc'], PIECE_SECONDS));
    expect(new Set(tasks.map(({ codec }) => codec))).toEqual(new Set(['av1', 'hevc']));
    for (const codec of ['av1', 'hevc'] as const) {
      const pieces = tasks.filter((task) => task.codec === codec);
      expect(pieces).toHaveLength(10);
      const segments = pieces.flatMap(({ segmentStarts }) => segmentStarts);
      expect(segments).toEqual(keyFramesOf(planOf(600), 'open_gop').segmentStarts);
    }
  });

  test('have the stream copy of the source as a whole, and pieces of what is left to encode', () => {
    const copiedTasks = (size: { width: number; height: number }) => {
      const videoRenditions = planLadder(size, 25);
      const encode = planOf(600, { copiedAlternative: 'hevc', videoRenditions });
      const gops = Array.from({ length: 300 }, (_, at) => ({ start: 2 * at, duration: 2, bytes: 1000 }));
      const source = { ...sourceOf(600, 2), gops };
      const alternatives = (['av1', 'hevc'] as const).map((codec) => ({
        codec,
        videoRenditions: inCodec(codec, videoRenditions),
      }));
      const keyFrames = keyFramesOf(encode, gops);
      return planOptionalTasks({ source, encode, keyFrames, pieceSeconds: PIECE_SECONDS, alternatives });
    };
    const countsOf = (tasks: Task[]) =>
      (['av1', 'hevc'] as const).map((codec) => [
        tasks.filter((task) => task.kind === 'codec_copy' && task.codec === codec).length,
        codecPieces(tasks).filter((task) => task.codec === codec).length,
      ]);
    const tasks = copiedTasks({ width: 1280, height: 720 });
    expect(countsOf(tasks)).toEqual([
      [0, 10],
      [1, 10],
    ]);
    const starts = keyFramesOf(planOf(600), 'open_gop').segmentStarts;
    expect(tasks[0]).toMatchObject({ kind: 'codec_copy', codec: 'hevc', frames: 15_000, seek: null });
    expect(tasks[0]).toMatchObject({ firstSegment: 0, firstFrame: 0, segmentStarts: starts });
    expect(countsOf(copiedTasks({ width: 640, height: 360 }))).toEqual([
      [0, 10],
      [1, 0],
    ]);
  });

  test('are one for each codec of a short video, and of one that must not be cut', () => {
    for (const tasks of [optionalTasks(['av1'], PIECE_SECONDS, 20), optionalTasks(['av1'], null)]) {
      expect(codecPieces(tasks)).toMatchObject([{ firstSegment: 0, firstFrame: 0 }]);
    }
  });
});

describe('the tasks of a video', () => {
  test('do not exist for a video of up to two pieces', () => {
    expect(tasksOf(sourceOf(120, 2), planOf(120), PIECE_SECONDS)).toBeNull();
    expect(tasksOf(sourceOf(121, 2), planOf(121), PIECE_SECONDS)).not.toBeNull();
  });

  test('do not exist if the source must be read from its beginning', () => {
    expect(tasksOf(sourceOf(600, 2, 'avi'), planOf(600), PIECE_SECONDS)).toBeNull();
    expect(tasksOf({ ...sourceOf(600, 2), entryPoints: null }, planOf(600), PIECE_SECONDS)).toBeNull();
  });

  test('have each kind that the plan needs', () => {
    const audio = [audioPlan()];
    const gops = Array.from({ length: 300 }, (_, at) => ({ start: 2 * at, duration: 2, bytes: 1000 }));
    const source = { ...sourceOf(600, 2), gops };
    const kinds = (plan: EncodePlan) => [
      ...new Set(tasksOf(source, plan, PIECE_SECONDS)?.map(({ kind }) => kind)),
    ];
    expect(kinds(planOf(600))).toEqual(['piece', 'images']);
    expect(kinds(planOf(600, { audio }))).toEqual(['audio', 'piece', 'images']);
    const copiesVideo = true;
    expect(kinds(planOf(600, { audio, copiesVideo }))).toEqual(['copy', 'audio', 'piece', 'images']);
    const videoRenditions = planLadder({ width: 640, height: 360 }, 25);
    expect(kinds(planOf(600, { copiesVideo, videoRenditions }))).toEqual(['copy', 'images']);
  });

  test.each([null, []])('take images from all frames if the entry points are %j', (entryPoints) => {
    const videoRenditions = planLadder({ width: 640, height: 360 }, 25);
    const plan = planOf(600, { copiesVideo: true, videoRenditions });
    const tasks = tasksOf({ ...sourceOf(600, 2), gops: [], entryPoints }, plan, PIECE_SECONDS);
    expect(tasks).toEqual([{ kind: 'copy' }, { kind: 'images', keyFramesOnly: false }]);
  });

  test.each([
    [2, true],
    [12, true],
    [13, false],
  ])('take images from key frames that are %d seconds apart: %p', (distance, keyFramesOnly) => {
    const tasks = tasksOf(sourceOf(600, distance), planOf(600), PIECE_SECONDS);
    expect(tasks).toContainEqual({ kind: 'images', keyFramesOnly });
  });

  test('take images from all frames if the first key frame is late', () => {
    const source = sourceOf(600, 2);
    const late = { ...source, entryPoints: source.entryPoints.filter((time) => time > 12) };
    expect(tasksOf(late, planOf(600), PIECE_SECONDS)).toContainEqual({
      kind: 'images',
      keyFramesOnly: false,
    });
  });

  test('take images of interlaced video from all frames', () => {
    const source = { ...sourceOf(600, 2), video: videoTrack({ interlaced: true }) };
    expect(tasksOf(source, planOf(600), PIECE_SECONDS)).toContainEqual({
      kind: 'images',
      keyFramesOnly: false,
    });
  });
});

describe('the pieces of a video', () => {
  test('are whole segments, and contain every frame once', () => {
    const pieces = piecesOf(sourceOf(200, 1), planOf(200));
    expect(
      pieces.slice(0, 4).map(({ firstSegment, segmentStarts }) => [firstSegment, segmentStarts.length]),
    ).toEqual([
      [0, 3],
      [3, 1],
      [4, 2],
      [6, 2],
    ]);
    expect(pieces.slice(0, 3).map(({ firstFrame, frames }) => [firstFrame, firstFrame + frames])).toEqual([
      [0, 200],
      [200, 350],
      [350, 650],
    ]);
    expect(pieces.at(-1)).toMatchObject({ firstFrame: 3650, frames: 1350 });
    expect(pieces.slice(0, 3).map(({ seek }) => seek)).toEqual([null, 5.9999, 11.9999]);
    expect(pieces.slice(0, 3).map(({ firstIFrame, iFrames }) => [firstIFrame, iFrames])).toEqual([
      [0, 4],
      [4, 3],
      [7, 6],
    ]);
  });

  test.each([
    [126, 60, [3, 1, 2, 2, 4, 11]],
    [180, 60, [3, 1, 2, 2, 4, 4, 8, 8]],
    [900, 60, [3, 1, 2, 2, 4, 4, 10, 9, 10, 10, 10, 9, 10, 10, 9, 10, 10, 10, 9, 10]],
    [66, 30, [3, 1, 2, 2, 5]],
    [120, 30, [3, 1, 2, 2, 5, 4, 5]],
    [60, 12, [4, 2, 2, 2, 2]],
    [30, 6, [3, 1, 1, 1, 1]],
  ])(
    'of %d s, with pieces of about %d s after the first ones, have these numbers of segments: %j',
    (seconds, piece, sizes) => {
      const pieces = piecesOf(sourceOf(seconds, 1), planOf(seconds), piece);
      expect(pieces.map(({ segmentStarts }) => segmentStarts.length)).toEqual(sizes);
    },
  );

  test('have key frames at the frames that all renditions have', () => {
    const frameRate = { numerator: 60_000, denominator: 1001 };
    const videoRenditions = planLadder({ width: 1280, height: 720 }, 59.94);
    const pieces = piecesOf(sourceOf(3000, 2), planOf(3000, { frameRate, videoRenditions }));
    const keyFrames = pieces.flatMap((piece) => piece.keyFrames);
    expect(keyFrames.slice(0, 4)).toEqual([0, 120, 240, 360]);
    // A whole number of frames lasts 1001 × 2 seconds.
    expect(keyFrames[1001]).toBe(120_000);
    expect(keyFrames.every((frame, at) => frame % 2 === 0 && frame / (60_000 / 1001) >= 2 * at - 1e-9)).toBe(
      true,
    );
    expect(pieces.flatMap((piece) => piece.segmentStarts)).toEqual(
      keyFrames.filter((_, at) => at <= 2 || at % 3 === 1),
    );
  });

  /** Groups of pictures of two durations in turn, for ten minutes. */
  const alternating = (first: number, second: number) => {
    const count = (2 * 600) / (first + second);
    return Array.from({ length: count }, (_, at) => ({
      start: Math.floor(at / 2) * (first + second) + (at % 2) * first,
      duration: at % 2 === 0 ? first : second,
      bytes: 1000,
    }));
  };

  test.each([
    ['a second after the previous one', 1, 1],
    ['at the start of a segment', 5.5, 0.5],
  ])('have I-frames %s', (_, first, second) => {
    const later = alternating(first, second).map((gop) => ({ ...gop, start: gop.start + 2 }));
    const source = { ...sourceOf(600, 3), gops: [{ start: 0, duration: 2, bytes: 1000 }, ...later] };
    const pieces = piecesOf(source, planOf(600, { copiesVideo: true }));
    expect(pieces.map(({ iFrames }) => iFrames)).toEqual(pieces.map(({ keyFrames }) => keyFrames.length));
  });

  test('have the bytes that their runs read, if the layout of the source is known', () => {
    const runs = Array.from({ length: 300 }, (_, at) => ({
      start: 100 * at,
      end: 100 * (at + 1),
      packets: 50,
      keyTime: 2 * at,
      earliest: 2 * at,
    }));
    const layout = { bytes: 30_000, index: [], runs };
    const lead = 0.04;
    const pieces = piecesOf({ ...sourceOf(600, 2), layout }, planOf(600, { lead }));
    expect(pieces.length).toBeGreaterThan(2);
    for (const { firstFrame, frames, seek, bytes } of pieces) {
      const end = (firstFrame + frames) / 25 + lead;
      expect(bytes).toEqual(new PieceBytes(layout).of({ seek, end }));
    }
    expect(piecesOf(sourceOf(600, 2), planOf(600)).some((piece) => 'bytes' in piece)).toBe(false);
  });

  test('have the key frames of a stream copy, without I-frames close to the previous one', () => {
    const source = { ...sourceOf(600, 3), gops: alternating(0.6, 2.4) };
    const pieces = piecesOf(source, planOf(600, { copiesVideo: true }));
    expect(pieces.flatMap((piece) => piece.keyFrames).slice(0, 5)).toEqual([0, 15, 75, 90, 150]);
    expect(pieces.flatMap((piece) => piece.segmentStarts).slice(0, 4)).toEqual([0, 75, 150, 225]);
    expect(pieces.map((piece) => piece.iFrames)).toEqual(pieces.map((piece) => piece.keyFrames.length / 2));
  });

  test('begin to read before the second-to-last key frame that precedes them, in a transport stream with a larger margin', () => {
    const lead = 0.04;
    expect(piecesOf(sourceOf(180, 2), planOf(180, { lead })).at(-1)?.seek).toBeCloseTo(131.9999, 6);
    expect(piecesOf(sourceOf(180, 2), planOf(180)).at(-1)?.seek).toBeCloseTo(129.9999, 6);
    expect(piecesOf(sourceOf(180, 2, 'mpegts'), planOf(180)).at(-1)?.seek).toBeCloseTo(129, 6);
  });

  test('are longer where key frames are far apart', () => {
    const pieces = piecesOf(sourceOf(600, 100), planOf(600));
    expect(pieces.map(({ firstFrame }) => firstFrame / 25)).toEqual([0, 260, 428]);
    expect(tasksOf(sourceOf(600, 600), planOf(600), PIECE_SECONDS)).toBeNull();
  });

  test('are planned in linear time, for a video of twelve hours with only key frames', async () => {
    const rate = 60;
    const inputOf = (seconds: number) => {
      const count = Math.floor(seconds / 0.4);
      const gops = Array.from({ length: count }, (_, at) => ({
        start: at * 0.4,
        duration: 0.4,
        bytes: 1000,
      }));
      const runs = Array.from({ length: Math.floor((seconds * rate) / 8) }, (_, at) => {
        const time = (at * 8) / rate;
        return { keyTime: time, earliest: time, packets: 8, start: at * 800, end: (at + 1) * 800 };
      });
      const layout = { bytes: runs.length * 800, index: [], runs };
      const frameRate = { numerator: rate, denominator: 1 };
      const plan = planOf(seconds, { frameRate, copiesVideo: true, segmentSeconds: 4 });
      return { source: { ...sourceOf(seconds, 0.5), gops, layout }, plan };
    };
    // The shortest pieces that an operator can set are of one segment.
    await requireLinearTime(12 * 3600, inputOf, ({ source, plan }) => tasksOf(source, plan, 1));
  });
});
