import { joinManifest } from '@framelane/contracts/joined-manifest';
import { expect, test } from '@jest/globals';
import { AUDIO, IMAGES, PIECES, resultOf, samplePlan } from '../../tests/support/plan.ts';
import { plannedRenditions, plannedSegments, plannedVideo, taskOf } from './planned-renditions.ts';

const segmentStarts = [0, 150, 300, 450, 600, 750];
const plan = { ...samplePlan(), segmentStarts };
const STARTED = { '360p': { codecs: 'avc1.64001e' }, audio: { codecs: 'mp4a.40.2' } };

test('renditions have the same facts before and after the tasks of the plan, and are listed once they have started', () => {
  const results = [AUDIO, IMAGES, ...PIECES].map((task) => resultOf(task));
  const { renditions } = joinManifest(plan, results);
  const planned = plannedRenditions(plan, STARTED);
  expect(planned).toMatchObject(
    renditions.map(({ segments: _, ...facts }) => ({ label: null, role: null, ...facts })),
  );
  expect(planned.map(({ bandwidth }) => bandwidth)).toEqual([880_000, 211_200]);
  expect(plannedRenditions(plan, { audio: STARTED.audio }).map(({ name }) => name)).toEqual(['audio']);
});

test('renditions in CMAF have the same facts before and after the tasks, too', () => {
  const cmaf = { ...samplePlan('cmaf'), segmentStarts };
  const { renditions } = joinManifest(
    cmaf,
    [AUDIO, IMAGES, ...PIECES].map((task) => resultOf(task, 'cmaf')),
  );
  const planned = plannedRenditions(cmaf, {
    ...STARTED,
    audio: { ...STARTED.audio, initialization: 'aGVhZGVy' },
  });
  expect(planned).toMatchObject(
    renditions.map(({ segments: _, initialization: __, ...facts }) => ({
      label: null,
      role: null,
      ...facts,
    })),
  );
  expect(planned.map((rendition) => 'initialization' in rendition)).toEqual([false, false]);
  expect(plannedSegments(cmaf, '360p')?.packaging).toBe('cmaf');
});

test('a plan is kept without the data that only engines need', () => {
  const { audioTracks } = plan.facts;
  const planned = plannedVideo(plan);
  expect(planned).toMatchObject({
    segmentStarts,
    tasks: [{ kind: 'audio' }, { kind: 'images' }, {}, {}, {}],
  });
  expect(planned.facts).toEqual({ audioTracks });
  expect(planned.tasks.flatMap((task) => ('keyFrames' in task ? task.keyFrames : []))).toEqual([]);
});

test('segments of video are where the plan has them', () => {
  const durations = [6, 6, 6, 6, 6, 6];
  expect(plannedSegments(plan, '360p')).toEqual({ packaging: 'ts', durations, targetDuration: 6 });
  const starts = [0, 125, 300, 450, 600, 810];
  expect(plannedSegments({ ...plan, segmentStarts: starts }, '360p')).toEqual({
    packaging: 'ts',
    durations: [5, 7, 6, 6, 8.4, 3.6],
    targetDuration: 8,
  });
  expect(plannedSegments(plan, '720p')).toBeUndefined();
});

test.each([
  [36, [2, 2, 4, 6, 6, 6, 6, 4]],
  // 0.1 s of audio may belong to the segment before.
  [26.1, [2, 2, 4, 6, 6, expect.closeTo(6.1)]],
  [26.5, [2, 2, 4, 6, 6, 6, 0.5]],
  [0.1, [0.1]],
])('audio of %d s has the segments that are due', (end, durations) => {
  const audio = plan.encode.audio.map((rendition) => ({ ...rendition, end }));
  const found = plannedSegments({ ...plan, encode: { ...plan.encode, audio } }, 'audio');
  expect(found?.durations).toEqual(durations);
});

test('each segment belongs to one task', () => {
  expect([0, 1, 2, 3, 4, 5, 6].map((sequence) => taskOf(plan, '360p', sequence))).toEqual([
    3,
    3,
    4,
    4,
    5,
    5,
    undefined,
  ]);
  expect([taskOf(plan, 'audio', 0), taskOf(plan, 'audio', 7), taskOf(plan, 'audio', 8)]).toEqual([
    AUDIO,
    AUDIO,
    undefined,
  ]);
  expect([taskOf(plan, '720p', 0), taskOf(plan, 'iframes', 0)]).toEqual([undefined, undefined]);
  const [rendition] = plan.encode.videoRenditions;
  const withCopy = {
    ...plan,
    encode: {
      ...plan.encode,
      copiesVideo: true,
      videoRenditions: [rendition, { ...rendition, name: '720p' }],
    },
    tasks: [...plan.tasks, { kind: 'copy' }],
  } as typeof plan;
  expect([taskOf(withCopy, '360p', 2), taskOf(withCopy, '720p', 2)]).toEqual([4, 6]);
});
