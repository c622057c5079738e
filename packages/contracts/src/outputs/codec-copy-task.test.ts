import { expect, test } from '@jest/globals';
import type { RenditionName } from '../renditions.ts';
import type { CodecCopyTask } from './codec-copy-task.ts';
import { alternativeOf, makesSegment, optionalTaskSchema, weightOf } from './tasks.ts';

const task: CodecCopyTask = {
  kind: 'codec_copy',
  codec: 'av1',
  firstSegment: 0,
  firstFrame: 0,
  frames: 1000,
  segmentStarts: [0, 500],
  keyFrames: [0, 250, 500, 750],
  seek: null,
};

test('a copy in another codec is optional, and light', () => {
  expect(optionalTaskSchema.parse(task)).toEqual(task);
  expect(weightOf(task, 1000)).toBe(20);
});

test('it makes all segments of the copied rendition of its codec', () => {
  const makes = (rendition: RenditionName, isCopy: boolean, sequence = 0) =>
    makesSegment(task, { rendition, sequence, isCopy });
  expect([makes('1080p-av1', true), makes('1080p-av1', true, 9)]).toEqual([true, true]);
  expect(makes('720p-av1', false)).toBe(false);
  for (const other of ['1080p', '1080p-hevc', 'audio', 'iframes'] as const)
    expect(makes(other, true)).toBe(false);
});

test('tasks of further codecs have these codecs, and other work has none', () => {
  expect(alternativeOf(task)).toBe('av1');
  expect(alternativeOf({ ...task, kind: 'codec_piece', codec: 'hevc' })).toBe('hevc');
  for (const other of [null, { kind: 'copy' } as const, { kind: 'audio' } as const])
    expect(alternativeOf(other)).toBeNull();
});
