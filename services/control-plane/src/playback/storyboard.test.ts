import { expect, test } from '@jest/globals';
import { renderStoryboard } from './storyboard.ts';

const storyboard = { bytes: 9000, width: 160, height: 90, columns: 2, tiles: 3, interval: 40 };

test('each cue refers to its tile of the image, and the last one lasts until the end', () => {
  expect(renderStoryboard(storyboard, 100.5, undefined).split('\n')).toEqual([
    'WEBVTT',
    '',
    '00:00:00.000 --> 00:00:40.000',
    'storyboard.jpg#xywh=0,0,160,90',
    '',
    '00:00:40.000 --> 00:01:20.000',
    'storyboard.jpg#xywh=160,0,160,90',
    '',
    '00:01:20.000 --> 00:01:40.500',
    'storyboard.jpg#xywh=0,90,160,90',
    '',
  ]);
});

test('a token stands before the fragment', () => {
  expect(renderStoryboard(storyboard, 100, 'a.b.c')).toContain(
    '\nstoryboard.jpg?token=a.b.c#xywh=160,0,160,90\n',
  );
});

test('hours are counted', () => {
  const long = { ...storyboard, tiles: 100, interval: 432 };
  expect(renderStoryboard(long, 43_200, undefined)).toContain('\n11:52:48.000 --> 12:00:00.000\n');
});

test('the last cue lasts at least a millisecond', () => {
  expect(renderStoryboard(storyboard, 79.9, undefined)).toContain('\n00:01:20.000 --> 00:01:20.001\n');
});
