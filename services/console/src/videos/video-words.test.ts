import { expect, test } from '@jest/globals';
import { adviceFor, statusIcon, statusName, statusWords } from './video-words.ts';

test('each status has a label; `processing` includes the percentage', () => {
  const words = (status: 'uploading' | 'processing' | 'ready' | 'failed') =>
    statusWords({ status, progress: 40, import: null });
  expect(words('uploading')).toBe('Waiting for a file');
  expect(words('processing')).toBe('Processing 40 %');
  expect(words('ready')).toBe('Ready');
  expect(words('failed')).toBe('Failed');
});

test('the name of a status has no progress', () => {
  const name = (status: 'uploading' | 'processing' | 'ready' | 'failed') =>
    statusName({ status, import: null });
  expect((['uploading', 'processing', 'ready', 'failed'] as const).map(name)).toEqual([
    'Waiting for a file',
    'Processing',
    'Ready',
    'Failed',
  ]);
  const imported = { url: '', bytes: 1, totalBytes: 3, tries: 0, nextTryAt: null, failure: null };
  expect(statusName({ status: 'uploading', import: imported })).toBe('Importing');
});

test('the label of an import shows its progress', () => {
  const begun = {
    url: 'https://a.example/b.mp4',
    bytes: 0,
    totalBytes: null,
    tries: 0,
    nextTryAt: null,
    failure: null,
  };
  const words = (changed: object) =>
    statusWords({ status: 'uploading', progress: 0, import: { ...begun, ...changed } });
  expect(words({})).toBe('Importing');
  expect(words({ bytes: 2_000_000 })).toBe('Importing 2.0 MB');
  expect(words({ bytes: 1, totalBytes: 3 })).toBe('Importing 33 %');
  expect(words({ bytes: 1, nextTryAt: '2026-11-22T00:00:00.000Z' })).toBe('Import waits for a retry');
});

test('an unknown error code gets general advice', () => {
  expect(adviceFor('no_video_track')).toContain('audio');
  expect(adviceFor('a_new_code')).toContain('documentation');
});

test('an upload without a file waits for one, and an import fetches it', () => {
  expect(statusIcon({ status: 'uploading', import: null })).toBe('waiting');
  const begun = { url: 'https://a.example/b.mp4', bytes: 0, totalBytes: null, tries: 0, nextTryAt: null };
  expect(statusIcon({ status: 'uploading', import: { ...begun, failure: null } })).toBe('importing');
  // The record keeps what was imported.
  expect(statusIcon({ status: 'ready', import: { ...begun, failure: null } })).toBe('ready');
});
