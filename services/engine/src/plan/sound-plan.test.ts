import { expect, test } from '@jest/globals';
import { audioTrack } from '../../tests/support/tracks.ts';
import type { ProbedSound } from '../source/probe.ts';
import { planEncoding } from './encode-plan.ts';
import { keyFramesOf } from './key-frames.ts';

const source = (changes: Partial<ProbedSound> = {}): ProbedSound => ({
  container: 'mp3',
  reading: {},
  video: null,
  cover: null,
  audio: [{ ...audioTrack({ codec: 'mp3' }), start: 0, end: 20, frames: null }],
  leftOut: [],
  chapters: [],
  timeline: { start: 0, duration: 20 },
  end: 20,
  unread: 0,
  declaredDuration: null,
  gops: 'irregular',
  entryPoints: null,
  audioAhead: 0,
  keyFramesNeedOthers: false,
  layout: null,
  ...changes,
});
const plan = (changes: Partial<ProbedSound> = {}) => planEncoding(source(changes), { allowCopy: true });

test('sound alone has audio, and a waveform', () => {
  expect(plan()).toMatchObject({
    videoIndex: null,
    videoRenditions: [],
    duration: 20,
    frames: 960_000,
    images: { ofSound: { cover: null, width: 1280, height: 720 }, storyboard: null },
    inputIssues: [],
  });
});

test('its last frame of audio is not cut off', () => {
  const [audio] = plan().audio;
  expect(audio?.end).toBeGreaterThanOrEqual(20);
  expect(audio?.end).toBeLessThan(20 + 1024 / 48_000);
});

test('it begins with its first track', () => {
  expect(plan({ timeline: { start: 4, duration: 20 } })).toMatchObject({ lead: 4, duration: 16 });
});

test('its segments begin where those of its audio do', () => {
  expect(keyFramesOf(plan(), 'irregular').segmentStarts).toEqual([0, 2, 4, 8, 14].map((at) => at * 48_000));
});

test.each([
  [1200, 1800, 720, 1080],
  [3000, 1000, 2160, 720],
  [300, 200, 300, 200],
  [8192, 1, 8192, 1],
])('a cover of %s×%s becomes a poster of %s×%s', (width, height, posterWidth, posterHeight) => {
  const { images, coded } = plan({ cover: { index: 3, size: { width, height } } });
  expect(images.ofSound).toEqual({ cover: 3, width: posterWidth, height: posterHeight });
  expect(coded).toEqual({ width, height });
});

test('AAC in MP4 is copied, if that is allowed', () => {
  const frames = { start: -1024 / 48_000, frames: 939, bytes: 200_000 };
  const audio = [{ ...audioTrack(), start: 0, end: 20, frames }];
  const copied = planEncoding(source({ container: 'mp4', audio }), { allowCopy: true });
  expect(copied.audio).toMatchObject([{ method: { copiedFrames: 938 } }]);
  const encoded = planEncoding(source({ container: 'mp4', audio }), { allowCopy: false });
  expect(encoded).toMatchObject({ audio: [{ method: {} }], obstacles: { audio: ['failed'] } });
  expect(encoded.audio[0]?.method).toHaveProperty('samples');
});

test.each<[string, Partial<ProbedSound> & { declared?: number }, string]>([
  ['by its header', { declaredDuration: 40 }, 'The file ends after 20.0 of 40.0 seconds.'],
  ['by its index', { declared: 40 }, 'The file ends after 20.0 of 40.0 seconds.'],
  ['by its rest', { unread: 0.5 }, 'The last 50 % of the file cannot be read: it is damaged.'],
])('a truncated file is recognised %s', (_, { declared = null, ...changes }, message) => {
  const audio = [{ ...audioTrack({ declaredDuration: declared }), start: 0, end: 20, frames: null }];
  expect(plan({ audio, ...changes }).inputIssues).toEqual([{ code: 'truncated', message }]);
});
