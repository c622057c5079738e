import { describe, expect, test } from '@jest/globals';
import { downloadWork, notAvailable } from './download-work.ts';

const INSIDE = { title: 'T', chapters: [{ start: 0, title: 'C' }] };
const TRACKS = { video: ['360p', '720p'], audio: ['audio', 'audio2'] } as const;

describe('a download is made from', () => {
  test.each([
    ['360p', ['360p', 'audio', 'audio2']],
    ['720p', ['720p', 'audio', 'audio2']],
    ['highest', ['720p', 'audio', 'audio2']],
    ['audio', ['audio', 'audio2']],
  ] as const)('%s: %j', (name, renditions) => {
    expect(downloadWork(name, TRACKS, INSIDE)).toEqual({ kind: 'download', name, renditions, ...INSIDE });
  });

  test('its video alone, if that has no audio', () => {
    const silent = { ...TRACKS, audio: [] };
    expect(downloadWork('highest', silent, INSIDE)?.renditions).toEqual(['720p']);
    expect(downloadWork('audio', silent, INSIDE)).toBeUndefined();
  });

  test('nothing, if the video does not have the rendition', () => {
    expect(downloadWork('1080p', TRACKS, INSIDE)).toBeUndefined();
    expect(notAvailable('1080p', TRACKS)).toBe('This video has no 1080p rendition. It has 360p, 720p.');
    expect(notAvailable('highest', { ...TRACKS, video: [] })).toBe('This is sound alone. Ask for audio.');
    expect(notAvailable('audio', TRACKS)).toBe('This video has no audio.');
  });
});
