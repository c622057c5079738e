import { I_FRAME_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import { expect, test } from '@jest/globals';
import { bytesOf } from './clip-work.ts';
import type { ParentRendition } from './clips.store.ts';

const rendition = (name: RenditionName, segmentBytes: number[]) =>
  ({ name, segmentBytes }) as ParentRendition;
const HOUR = 600;
const [LOW, HIGH] = [rendition('360p', Array(HOUR).fill(10)), rendition('720p', Array(HOUR).fill(100))];
const AUDIO = rendition('audio', Array(HOUR).fill(1));
const I_FRAMES = rendition(I_FRAME_RENDITION, Array(3 * HOUR).fill(2));
const PART = { first: 100, end: 200 };

test('an engine has audio, key frames and three segments of each video rendition on its disk', () => {
  const segments = { '360p': PART, '720p': PART, audio: PART, iframes: { first: 300, end: 600 } };
  expect(bytesOf({ segments }, [I_FRAMES, LOW, HIGH, AUDIO])).toEqual({
    stored: 100 * (10 + 100 + 1) + 300 * 2,
    onDisk: 3 * (10 + 100) + 100 + 300 * 2,
  });
});

test('without I-frames, the lowest rendition has the key frames', () => {
  const segments = { '360p': PART, '720p': PART };
  expect(bytesOf({ segments }, [LOW, HIGH])).toEqual({ stored: 100 * 110, onDisk: 100 * 10 + 3 * 100 });
});

test('sound alone is there as a whole', () => {
  expect(bytesOf({ segments: { audio: PART } }, [AUDIO])).toEqual({ stored: 100, onDisk: 100 });
});
