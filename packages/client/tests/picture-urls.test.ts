import { expect, test } from '@jest/globals';
import { previewUrl, thumbnailUrl } from '../src/index.ts';

const video = { hls: 'https://video.example.com/v1/hls/ws_1/vid_1/master.m3u8' };

test('the URLs of pictures are beside the playlist', () => {
  expect(thumbnailUrl(video)).toBe('https://video.example.com/v1/hls/ws_1/vid_1/thumbnail.jpg');
  expect(thumbnailUrl(video, { format: 'webp', time: 12.5, width: 320, fit: 'cover', token: 'a.b.c' })).toBe(
    'https://video.example.com/v1/hls/ws_1/vid_1/thumbnail.webp?time=12.5&width=320&fit=cover&token=a.b.c',
  );
  expect(previewUrl(video, { start: 3, fps: 5 })).toBe(
    'https://video.example.com/v1/hls/ws_1/vid_1/preview.webp?start=3&fps=5',
  );
  expect(previewUrl(video, { format: 'gif' })).toMatch(/preview\.gif$/);
});
