import { expect, test } from '@jest/globals';
import { ProgressReader } from './progress.ts';

test('parses progress across chunks and reports increases only', () => {
  const seen: number[] = [];
  let moves = 0;
  const onMove = () => {
    moves += 1;
  };
  const reader = new ProgressReader('frame', { onProgress: (frames) => seen.push(frames), onMove });
  const chunks = [
    'frame=3\nout_time_us=N/A\ndup_frame=9\nprogr',
    'ess=continue\nframe=1',
    '50\nframe=150\n',
    'frame=  140\nfr',
  ];
  for (const chunk of [...chunks, 'ame=300\nout_time_us=9000000\n']) reader.push(chunk);
  expect(seen).toEqual([3, 150, 300]);
  expect(moves).toBe(4);
});
