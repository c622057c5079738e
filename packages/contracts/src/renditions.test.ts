import { describe, expect, test } from '@jest/globals';
import {
  AWAITED_RENDITIONS,
  isAudioRendition,
  partsOf,
  RENDITIONS,
  RUNGS,
  renditionsIn,
  rungsOf,
  VIDEO_CODECS,
  VIDEO_RENDITIONS,
  videoRendition,
} from './renditions.ts';

describe('the name of a video rendition', () => {
  test('in H.264 is that of its rung', () => {
    expect(RUNGS.map((rung) => videoRendition(rung, 'h264'))).toEqual(['360p', '480p', '720p', '1080p']);
  });

  test('in another codec also names the codec', () => {
    expect(videoRendition('1080p', 'av1')).toBe('1080p-av1');
    expect(renditionsIn('hevc')).toEqual(['360p-hevc', '480p-hevc', '720p-hevc', '1080p-hevc']);
  });

  test('is unique, and says its rung and its codec', () => {
    const all = VIDEO_CODECS.flatMap((codec) => RUNGS.map((rung) => ({ rung, codec })));
    const names = all.map(({ rung, codec }) => videoRendition(rung, codec));
    expect(VIDEO_RENDITIONS).toEqual(names);
    expect(new Set(RENDITIONS).size).toBe(RENDITIONS.length);
    expect(names.map(partsOf)).toEqual(all);
    expect(() => partsOf('audio' as '360p')).toThrow('Not a video rendition: audio');
  });
});

test('the rungs of renditions are listed once, lowest first', () => {
  expect(rungsOf(['1080p', 'audio', '360p', 'iframes', '360p'])).toEqual(['360p', '1080p']);
});

test('a video waits for the renditions of no other codec than H.264', () => {
  const others = RENDITIONS.filter((name) => !AWAITED_RENDITIONS.includes(name));
  expect(others).toEqual([...renditionsIn('av1'), ...renditionsIn('hevc')]);
});

test('audio renditions are those of audio and of surround', () => {
  const audio = RENDITIONS.filter(isAudioRendition);
  expect(audio.filter((name) => !/^(audio|surround)[2-8]?$/.test(name))).toEqual([]);
  expect(audio).toHaveLength(16);
});
