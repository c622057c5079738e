import type { Schemas, Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { choicesOf, downloadName, downloadWords } from './download-words.ts';

const READY: Schemas['Download'] = {
  file: 'highest',
  status: 'ready',
  url: 'https://example.com/highest.mp4',
  bytes: 4_718_592,
  error: null,
  createdAt: '2026-11-21T09:05:02.317Z',
  readyAt: '2026-11-21T09:05:04.120Z',
};
const FAILED: Schemas['Download'] = {
  ...READY,
  file: '720p',
  status: 'failed',
  error: { code: 'download_failed', message: 'It failed.' },
};

test('files have names', () => {
  expect((['highest', 'audio', '720p'] as const).map(downloadName)).toEqual([
    'Video, highest quality (MP4)',
    'Audio (M4A)',
    'Video, 720p (MP4)',
  ]);
});

test('files have states', () => {
  expect(downloadWords(READY)).toBe('4.7 MB');
  expect(downloadWords({ ...READY, status: 'preparing', bytes: null })).toBe('Being prepared');
  expect(downloadWords(FAILED)).toBe('It failed.');
});

test('files can be prepared that the video can have, and that do not exist or have failed', () => {
  const video = (changes: object) =>
    ({ variants: ['360p', '720p'], audioTracks: [{}], downloads: [], ...changes }) as unknown as Video;
  expect(choicesOf(video({}))).toEqual(['highest', 'audio', '720p', '360p']);
  expect(choicesOf(video({ downloads: [READY, FAILED], audioTracks: [] }))).toEqual(['720p', '360p']);
  expect(choicesOf(video({ variants: undefined, audioTracks: undefined }))).toEqual([]);
});
