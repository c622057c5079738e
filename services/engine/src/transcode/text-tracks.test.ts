import { expect, test } from '@jest/globals';
import { toCaptions } from './text-tracks.ts';

const cue = (start: number, end: number) => ({ start, end, settings: '', text: 'A' });

test('cues move with the video, and those outside of it are left out', () => {
  const cues = [cue(0, 30), cue(20, 500), cue(1500, 2500), cue(2050, 2500)];
  const texts = [
    { language: 'en', title: 'Full', cues },
    { language: null, title: undefined, cues: [cue(5000, 6000)] },
  ];
  expect(toCaptions(texts, { lead: 0.04, duration: 2 })).toEqual([
    {
      language: 'en',
      label: 'Full',
      webvtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:00.460\nA\n\n00:00:01.460 --> 00:00:02.460\nA\n',
    },
  ]);
});
