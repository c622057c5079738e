import { expect, test } from '@jest/globals';
import { readTiles, spread } from './storyboard-tiles.ts';

const URL_OF_VTT = 'https://video.example.com/v1/hls/ws_1/vid_1/storyboard.vtt';

test('reads the tiles, and only them', () => {
  const vtt = [
    'WEBVTT',
    '',
    '00:00:00.000 --> 00:00:01.000',
    'storyboard.jpg#xywh=0,0,160,90',
    '',
    '00:00:01.000 --> 00:00:02.000\r',
    'storyboard.jpg?token=a.b#xywh=160,90,160,90\r',
    'storyboard.jpg#xywh=0,0,0,90',
    'storyboard.jpg',
  ].join('\n');
  const base = 'https://video.example.com/v1/hls/ws_1/vid_1/storyboard.jpg';
  expect(readTiles(vtt, URL_OF_VTT)).toEqual([
    { image: base, x: 0, y: 0, width: 160, height: 90 },
    { image: `${base}?token=a.b`, x: 160, y: 90, width: 160, height: 90 },
  ]);
  expect(readTiles('', URL_OF_VTT)).toEqual([]);
});

test('spreads a few tiles over the video', () => {
  expect(spread([1, 2, 3], 4)).toEqual([1, 2, 3]);
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3)).toEqual([0, 3, 6]);
  expect(spread([], 3)).toEqual([]);
});
