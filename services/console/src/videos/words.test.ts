import { expect, test } from '@jest/globals';
import { adviceFor, statusWords } from './words.ts';

test('a status has words, with the percentage while the video is processed', () => {
  const words = (status: 'uploading' | 'processing' | 'ready' | 'failed') =>
    statusWords({ status, progress: 40, import: null });
  expect(words('uploading')).toBe('Waiting for the file');
  expect(words('processing')).toBe('Processing 40 %');
  expect(words('ready')).toBe('Ready');
  expect(words('failed')).toBe('Failed');
});

test('a code of a later version has words, too', () => {
  expect(adviceFor('no_video_track')).toContain('audio');
  expect(adviceFor('a_new_code')).toContain('documentation');
});
