import { expect, test } from '@jest/globals';
import { withoutPictures } from './audio-only.ts';

test('a source without pictures has the other playlist, the token and the images', () => {
  const source = {
    hls: '/v1/hls/ws_1/vid_1/master.m3u8?token=a.b',
    poster: '/p.jpg',
    storyboard: null,
    chapters: null,
  };
  expect(withoutPictures(source)).toEqual({
    ...source,
    hls: '/v1/hls/ws_1/vid_1/audio.m3u8?token=a.b',
    audioOnly: true,
  });
});
