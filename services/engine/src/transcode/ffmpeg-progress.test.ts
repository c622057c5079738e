import { expect, test } from '@jest/globals';
import { ProgressReader } from './ffmpeg-progress.ts';

test('progress is read across chunks, and only grows', () => {
  const seconds: number[] = [];
  const reader = new ProgressReader((time) => seconds.push(time));
  const chunks = ['frame=0\nout_time_us=N/A\nprogr', 'ess=continue\nout_time_us=15', '00000\n'];
  for (const chunk of [...chunks, 'out_time_us=1400000\nout_time_us=-21333\n', 'out_time_us=3000000\n']) {
    reader.push(chunk);
  }
  expect(seconds).toEqual([1.5, 3]);
});
