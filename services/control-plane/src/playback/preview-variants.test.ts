import type { Task } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { samplePlan } from '../../tests/support/plan.ts';
import { previewVariants, type TaskProgress } from './preview-variants.ts';

const RATE = 25;
const WAITING: TaskProgress = { progress: 0, isDone: false, runningSeconds: null, begun: {} };
const DONE: TaskProgress = { ...WAITING, progress: 1, isDone: true };
const AUDIO: TaskProgress = { ...DONE, begun: { audio: 'mp4a.40.2' } };
const ENCODED = { '360p': 'avc1.64001e', '720p': 'avc1.64001f' };

/** A piece that has made some seconds of video in a number of seconds. */
const running = (made: number, seconds: number, duration = 60): TaskProgress => ({
  ...{ progress: made / duration, isDone: false, runningSeconds: seconds, begun: ENCODED },
});

/** A plan of audio, the source's own 1080p if it is kept, and pieces of so many seconds. */
function planOf(durations: readonly number[], { kept = false } = {}) {
  const { encode } = samplePlan();
  const rung = (name: '360p' | '720p' | '1080p') => ({
    name,
    ...{ width: 2, height: 2, maxRate: 1, frameStep: 1 as const },
  });
  const rungs = [rung('360p'), rung('720p'), ...(kept ? [rung('1080p')] : [])];
  const pieces = durations.map(
    (seconds): Task => ({
      ...{ kind: 'piece', frames: seconds * RATE, segmentStarts: [0], keyFrames: [0], seek: null },
      ...{ firstSegment: 0, firstFrame: 0, firstIFrame: 0, iFrames: 0 },
    }),
  );
  const tasks: Task[] = [{ kind: 'audio' }, ...(kept ? [{ kind: 'passthrough' } as const] : []), ...pieces];
  return { encode: { ...encode, rungs, videoPassthrough: kept }, tasks };
}

describe('a kept source', () => {
  const plan = planOf([60, 60], { kept: true });
  const copying: TaskProgress = { ...WAITING, runningSeconds: 1, begun: { '1080p': 'avc1.640028' } };

  test('can be played when its first segment and that of the audio are stored', () => {
    expect(previewVariants(plan, [AUDIO, copying, WAITING, WAITING])).toEqual(['1080p']);
    expect(previewVariants(plan, [AUDIO, WAITING, WAITING, WAITING])).toEqual([]);
    expect(previewVariants(plan, [WAITING, copying, WAITING, WAITING])).toEqual([]);
  });

  test('has the encoded renditions as soon as they keep ahead', () => {
    expect(previewVariants(plan, [AUDIO, copying, running(5, 6), WAITING])).toEqual(['1080p']);
    expect(previewVariants(plan, [AUDIO, copying, running(6, 2), WAITING])).toEqual([
      '360p',
      '720p',
      '1080p',
    ]);
  });
});

describe('an encoded source', () => {
  const variantsOf = (durations: readonly number[], pieces: readonly TaskProgress[]) =>
    previewVariants(planOf(durations), [AUDIO, ...pieces]);

  test('can be played if one engine makes all pieces in time, also if it becomes slower by a twentieth', () => {
    expect(variantsOf([60, 60], [running(9.9, 10), WAITING])).toEqual(['360p', '720p']);
    expect(variantsOf([60, 60], [running(9.4, 10), WAITING])).toEqual([]);
  });

  test('cannot be played before the first segment is stored', () => {
    expect(variantsOf([60, 60], [{ ...running(20, 1), begun: {} }, WAITING])).toEqual([]);
  });

  test('waits for the lead that two slow pieces at once need', () => {
    const twoAtOnce = (seconds: number) => {
      const made = 0.7 * seconds;
      return [running(made, seconds), running(made, seconds), WAITING, WAITING];
    };
    const durations = [60, 60, 60, 60];
    expect(variantsOf(durations, twoAtOnce(10))).toEqual([]);
    expect(variantsOf(durations, twoAtOnce(40))).toEqual(['360p', '720p']);
  });

  test('can be played soon because the first pieces are short', () => {
    // Two engines encode 1.5 times faster than playback together, for ten seconds so far.
    const durations = [6, 6, 12, 12, 24, 24, 60, 60];
    const pieces = [running(1.5, 2, 12), running(1.5, 2, 12), ...durations.slice(4).map(() => WAITING)];
    expect(variantsOf(durations, [{ ...DONE, begun: ENCODED }, DONE, ...pieces])).toEqual(['360p', '720p']);
  });

  test('gets another engine for its pieces when another task ends', () => {
    const images = { progress: 0.5, isDone: false, runningSeconds: 4, begun: {} };
    const plan = planOf([60, 60, 60]);
    const withImages = { ...plan, tasks: [...plan.tasks, { kind: 'images', keyFramesOnly: true } as const] };
    const pieces = [running(24, 30), WAITING, WAITING];
    expect(previewVariants(withImages, [AUDIO, ...pieces, WAITING])).toEqual([]);
    expect(previewVariants(withImages, [AUDIO, ...pieces, images])).toEqual(['360p', '720p']);
  });

  test('cannot be played before the images have begun', () => {
    const plan = planOf([60, 60]);
    const withImages = { ...plan, tasks: [...plan.tasks, { kind: 'images', keyFramesOnly: true } as const] };
    const pieces = [running(30, 10), WAITING];
    expect(previewVariants(plan, [AUDIO, ...pieces])).toEqual(['360p', '720p']);
    expect(previewVariants(withImages, [AUDIO, ...pieces, WAITING])).toEqual([]);
    expect(previewVariants(withImages, [AUDIO, ...pieces, DONE])).toEqual(['360p', '720p']);
  });

  test('cannot be played while a later piece would come too late', () => {
    expect(variantsOf([60, 60], [DONE, WAITING])).toEqual([]);
    const begun = { ...DONE, begun: ENCODED };
    expect(variantsOf([60, 60], [begun, running(6, 60)])).toEqual([]);
    expect(variantsOf([60, 60], [begun, running(30, 60)])).toEqual(['360p', '720p']);
  });

  test('can be played when all pieces are made', () => {
    expect(variantsOf([60, 60], [{ ...DONE, begun: ENCODED }, DONE])).toEqual(['360p', '720p']);
  });
});
