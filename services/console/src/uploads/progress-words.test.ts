import { expect, test } from '@jest/globals';
import { paceWords, progressWords, uploadWords } from './progress-words.ts';
import type { Item } from './upload-items.ts';

const item: Item = { id: 1, name: 'a.mp4', size: 40_000_000, sent: 10_000_000, state: 'sending' };

test('a file that is being sent has speed and time left when they are known', () => {
  expect(progressWords(item)).toBe('10 MB of 40 MB');
  expect(progressWords({ ...item, speed: 1_500_000 })).toBe('10 MB of 40 MB · 1.5 MB/s · 20 s left');
  expect(progressWords({ ...item, speed: 0 })).toBe('10 MB of 40 MB · no connection');
});

test('speed and time left of the queue include waiting files', () => {
  const waiting: Item = { ...item, id: 2, sent: 0, state: 'waiting' };
  const paused: Item = { ...waiting, id: 3, state: 'paused' };
  expect(paceWords([waiting, paused])).toEqual([]);
  expect(paceWords([{ ...item, speed: 1_000_000 }, waiting, paused])).toEqual(['1.0 MB/s', '2 min left']);
});

test('a queue that sends nothing has no speed, whatever the last one was', () => {
  const sent: Item = { ...item, sent: item.size, state: 'sent', speed: 1_500_000 };
  const failed: Item = { ...item, id: 2, state: 'failed', speed: 0 };
  expect(paceWords([sent, failed])).toEqual([]);
  expect(paceWords([sent, { ...item, speed: 0 }])).toEqual(['no connection']);
});

test('every state has words', () => {
  expect(progressWords({ ...item, state: 'paused' })).toBe('10 MB of 40 MB · paused');
  expect(progressWords({ ...item, state: 'unfinished' })).toBe(
    '25 % of 40 MB · choose the file again to continue',
  );
  expect(progressWords({ ...item, state: 'unfinished', reason: 'other-file' })).toBe(
    '25 % of 40 MB · this is another file. Choose the same one, unchanged.',
  );
  expect(progressWords({ ...item, state: 'ended', reason: 'deleted' })).toBe('the video was deleted');
  expect((['waiting', 'sent', 'failed'] as const).map((state) => progressWords({ ...item, state }))).toEqual([
    '40 MB · waiting',
    '40 MB · uploaded',
    '40 MB · failed',
  ]);
  expect(progressWords({ ...item, state: 'sent', hasFailed: true })).toBe(
    '40 MB · uploaded; the video failed',
  );
});

test('a video has the state of its upload as status while the file is on its way', () => {
  expect(uploadWords(item)).toBe('Uploading 25 %');
  expect(uploadWords({ ...item, state: 'paused' })).toBe('Upload paused at 25 %');
  expect(uploadWords({ ...item, state: 'waiting' })).toBe('Upload waits at 25 %');
  expect(uploadWords({ ...item, state: 'waiting', sent: 0 })).toBeUndefined();
  expect(uploadWords({ ...item, state: 'sent' })).toBe('Uploaded');
  expect(uploadWords({ ...item, state: 'failed' })).toBeUndefined();
  expect(uploadWords({ ...item, state: 'unfinished' })).toBeUndefined();
});
