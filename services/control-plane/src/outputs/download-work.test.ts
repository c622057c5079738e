import { describe, expect, test } from '@jest/globals';
import { downloadWork, notAvailable } from './download-work.ts';

const TRACKS = { video: ['360p', '720p'], audio: ['audio', 'audio2'] } as const;

describe('a download is made from', () => {
  test.each([
    ['360p', ['360p', 'audio', 'audio2']],
    ['720p', ['720p', 'audio', 'audio2']],
    ['highest', ['720p', 'audio', 'audio2']],
    ['audio', ['audio', 'audio2']],
  ] as const)('%s: %j', (name, renditions) => {
    expect(downloadWork(name, TRACKS, 'T')).toEqual({ kind: 'download', name, renditions, title: 'T' });
  });

  test('its video alone, if that has no audio', () => {
    const silent = { ...TRACKS, audio: [] };
    expect(downloadWork('highest', silent, 'T')?.renditions).toEqual(['720p']);
    expect(downloadWork('audio', silent, 'T')).toBeUndefined();
  });

  test('nothing, if the video does not have the rendition', () => {
    expect(downloadWork('1080p', TRACKS, 'T')).toBeUndefined();
    expect(notAvailable('1080p', TRACKS)).toBe('This video has no 1080p rendition. It has 360p, 720p.');
    expect(notAvailable('audio', TRACKS)).toBe('This video has no audio.');
  });
});
