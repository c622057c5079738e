import type { Task } from '@framelane/contracts/outputs/tasks';
import { describe, expect, test } from '@jest/globals';
import { samplePlan } from '../../tests/support/plan.ts';
import { playableRungs, type TaskProgress } from './playable-rungs.ts';

const RATE = 25;
const WAITING: TaskProgress = { progress: 0, isDone: false, runningSeconds: null, startedRenditions: {} };
const DONE: TaskProgress = { ...WAITING, progress: 1, isDone: true };
const AUDIO: TaskProgress = { ...DONE, startedRenditions: { audio: { codecs: 'mp4a.40.2' } } };
const ENCODED = { '360p': { codecs: 'avc1.64001e' }, '720p': { codecs: 'avc1.64001f' } };

/** A running piece: it began `seconds` ago, and `encoded` seconds of its video are encoded. */
const running = (encoded: number, seconds: number, duration = 60): TaskProgress => ({
  progress: encoded / duration,
  isDone: false,
  runningSeconds: seconds,
  startedRenditions: ENCODED,
});

/** A plan with audio, a copy of the source as 1080p if `copiesVideo`, and pieces of these durations in seconds. */
function planOf(durations: readonly number[], { copiesVideo = false } = {}) {
  const { encode } = samplePlan();
  const rendition = (name: '360p' | '720p' | '1080p') => ({
    name,
    width: 2,
    height: 2,
    maxRate: 1,
    frameStep: 1 as const,
  });
  const videoRenditions = [
    rendition('360p'),
    rendition('720p'),
    ...(copiesVideo ? [rendition('1080p')] : []),
  ];
  const pieces = durations.map(
    (seconds): Task => ({
      kind: 'piece',
      frames: seconds * RATE,
      segmentStarts: [0],
      keyFrames: [0],
      seek: null,
      firstSegment: 0,
      firstFrame: 0,
      firstIFrame: 0,
      iFrames: 0,
    }),
  );
  const tasks: Task[] = [{ kind: 'audio' }, ...(copiesVideo ? [{ kind: 'copy' } as const] : []), ...pieces];
  return { encode: { ...encode, videoRenditions, copiesVideo }, tasks };
}

describe('a source with video stream copy', () => {
  const plan = planOf([60, 60], { copiesVideo: true });
  const copying: TaskProgress = {
    ...WAITING,
    runningSeconds: 1,
    startedRenditions: { '1080p': { codecs: 'avc1.640028' } },
  };

  test('can be played when the first segments of its video and its audio are stored', () => {
    expect(playableRungs(plan, [AUDIO, copying, WAITING, WAITING])).toEqual(['1080p']);
    expect(playableRungs(plan, [AUDIO, WAITING, WAITING, WAITING])).toEqual([]);
    expect(playableRungs(plan, [WAITING, copying, WAITING, WAITING])).toEqual([]);
  });

  test('has the encoded renditions as soon as engines keep ahead of the viewer', () => {
    expect(playableRungs(plan, [AUDIO, copying, running(5, 6), WAITING])).toEqual(['1080p']);
    expect(playableRungs(plan, [AUDIO, copying, running(6, 2), WAITING])).toEqual(['360p', '720p', '1080p']);
  });
});

describe('a source without video stream copy', () => {
  const rungsOf = (durations: readonly number[], pieces: readonly TaskProgress[]) =>
    playableRungs(planOf(durations), [AUDIO, ...pieces]);

  test('can be played if one engine encodes all pieces fast enough, even if it becomes slower by a twentieth', () => {
    expect(rungsOf([60, 60], [running(9.9, 10), WAITING])).toEqual(['360p', '720p']);
    expect(rungsOf([60, 60], [running(9.4, 10), WAITING])).toEqual([]);
  });

  test('cannot be played before the first segment is stored', () => {
    expect(rungsOf([60, 60], [{ ...running(20, 1), startedRenditions: {} }, WAITING])).toEqual([]);
  });

  test('cannot be played until two slow concurrent pieces are far enough ahead', () => {
    const twoAtOnce = (seconds: number) => {
      const encoded = 0.7 * seconds;
      return [running(encoded, seconds), running(encoded, seconds), WAITING, WAITING];
    };
    const durations = [60, 60, 60, 60];
    expect(rungsOf(durations, twoAtOnce(10))).toEqual([]);
    expect(rungsOf(durations, twoAtOnce(40))).toEqual(['360p', '720p']);
  });

  test('can be played soon because the first pieces are short', () => {
    // Together, two engines encode at 1.5 times the speed of playback. Ten seconds have passed.
    const durations = [6, 6, 12, 12, 24, 24, 60, 60];
    const pieces = [running(1.5, 2, 12), running(1.5, 2, 12), ...durations.slice(4).map(() => WAITING)];
    expect(rungsOf(durations, [{ ...DONE, startedRenditions: ENCODED }, DONE, ...pieces])).toEqual([
      '360p',
      '720p',
    ]);
  });

  test('assumes one more engine for pieces when a task of another kind ends', () => {
    const images = { progress: 0.5, isDone: false, runningSeconds: 4, startedRenditions: {} };
    const plan = planOf([60, 60, 60]);
    const withImages = { ...plan, tasks: [...plan.tasks, { kind: 'images', keyFramesOnly: true } as const] };
    const pieces = [running(24, 30), WAITING, WAITING];
    expect(playableRungs(withImages, [AUDIO, ...pieces, WAITING])).toEqual([]);
    expect(playableRungs(withImages, [AUDIO, ...pieces, images])).toEqual(['360p', '720p']);
  });

  test('is played later if pieces wait for a task of another kind', () => {
    const plan = planOf([60, 60]);
    const images = { kind: 'images', keyFramesOnly: true } as const;
    // The images take as long as the pieces take for five seconds.
    const encode = { ...plan.encode, frames: 250 * RATE };
    const between = { encode, tasks: plan.tasks.toSpliced(-1, 0, images) };
    const last = { encode, tasks: [...plan.tasks, images] };
    const [slow, fast] = [running(9.9, 10), running(11, 10)];
    expect(playableRungs(plan, [AUDIO, slow, WAITING])).toEqual(['360p', '720p']);
    expect(playableRungs(between, [AUDIO, slow, WAITING, WAITING])).toEqual([]);
    expect(playableRungs(between, [AUDIO, fast, WAITING, WAITING])).toEqual(['360p', '720p']);
    expect(playableRungs(between, [AUDIO, slow, DONE, WAITING])).toEqual(['360p', '720p']);
    expect(playableRungs(last, [AUDIO, slow, WAITING, WAITING])).toEqual(['360p', '720p']);
  });

  test('cannot be played while a later piece would be late', () => {
    expect(rungsOf([60, 60], [DONE, WAITING])).toEqual([]);
    const firstPiece = { ...DONE, startedRenditions: ENCODED };
    expect(rungsOf([60, 60], [firstPiece, running(6, 60)])).toEqual([]);
    expect(rungsOf([60, 60], [firstPiece, running(30, 60)])).toEqual(['360p', '720p']);
  });

  test('can be played when all pieces are complete', () => {
    expect(rungsOf([60, 60], [{ ...DONE, startedRenditions: ENCODED }, DONE])).toEqual(['360p', '720p']);
  });
});

describe('a video that one engine makes as a whole', () => {
  const { encode } = planOf([]);
  const plan = (changes: object = {}) => ({
    encode: { ...encode, frames: 60 * RATE, ...changes },
    tasks: [],
  });
  const started = { ...ENCODED, audio: { codecs: 'mp4a.40.2' } };
  const whole = (encoded: number, seconds: number) => [
    { ...running(encoded, seconds), startedRenditions: started },
  ];

  test('can be played when its first segments are stored, if the engine keeps ahead of the viewer', () => {
    expect(playableRungs(plan(), whole(2, 1))).toEqual(['360p', '720p']);
    expect(playableRungs(plan(), whole(2, 3))).toEqual([]);
    // What is left takes less time than the video lasts.
    expect(playableRungs(plan(), whole(30, 40))).toEqual(['360p', '720p']);
    expect(playableRungs(plan(), [running(2, 1)])).toEqual([]);
  });

  test('is not copied faster than it is encoded', () => {
    expect(playableRungs(plan({ copiesVideo: true }), whole(2, 3))).toEqual([]);
  });
});
