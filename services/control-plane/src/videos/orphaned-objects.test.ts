import { describe, expect, test } from '@jest/globals';
import {
  acceptsUploads,
  prefixesToPurge,
  prefixOfLostTransfer,
  prefixOfLostTry,
} from './orphaned-objects.ts';

const EVERYTHING = ['sources/w/v/', 'hls/w/v/'];
const living = {
  id: 'v',
  workspace_id: 'w',
  deleted_at: null,
  uploaded_at: new Date(),
  source_deleted_at: null,
};

describe('prefixesToPurge', () => {
  test.each([
    ['deleted', { ...living, status: 'ready', attempt: 2, deleted_at: new Date() }, EVERYTHING],
    ['failed without an upload', { ...living, status: 'failed', attempt: 0, uploaded_at: null }, EVERYTHING],
    ['failed', { ...living, status: 'failed', attempt: 2 }, ['hls/w/v/a1/', 'hls/w/v/a2/']],
    ['uploading', { ...living, status: 'uploading', attempt: 0, uploaded_at: null }, []],
    ['processing, unclaimed', { ...living, status: 'processing', attempt: 0 }, []],
    ['processing', { ...living, status: 'processing', attempt: 3 }, ['hls/w/v/a1/', 'hls/w/v/a2/']],
    ['ready', { ...living, status: 'ready', attempt: 2 }, ['hls/w/v/a1/']],
    [
      'ready without its source',
      { ...living, status: 'ready', attempt: 2, source_deleted_at: new Date() },
      ['sources/w/v/', 'hls/w/v/a1/'],
    ],
  ] as const)('%s', (_, video, prefixes) => {
    expect(prefixesToPurge(video)).toEqual(prefixes);
  });
});

describe('acceptsUploads', () => {
  test.each([
    ['uploading', { deleted_at: null, status: 'uploading' }, true],
    ['uploading, deleted', { deleted_at: new Date(), status: 'uploading' }, false],
    ['processing', { deleted_at: null, status: 'processing' }, false],
    ['failed', { deleted_at: null, status: 'failed' }, false],
  ] as const)('%s', (_, video, expected) => {
    expect(acceptsUploads(video)).toBe(expected);
  });
});

describe('prefixOfLostTransfer', () => {
  test.each([
    ['of another transfer', 'sources/w/v/x1/original', 'sources/w/v/x2/original', 'sources/w/v/x1/'],
    ['of one with a longer name', 'sources/w/v/x10/original', 'sources/w/v/x1/original', 'sources/w/v/x10/'],
    ['the source itself', 'sources/w/v/x1/original', 'sources/w/v/x1/original', null],
    ['beside a source of no transfer', 'sources/w/v/x1/original', 'sources/w/v/original', 'sources/w/v/x1/'],
    ['of no transfer', 'sources/w/v/original', 'sources/w/v/x1/original', null],
  ])('%s', (_, key, source, prefix) => {
    expect(prefixOfLostTransfer(key, source)).toBe(prefix);
  });
});

describe('prefixOfLostTry', () => {
  test.each([
    ['of another try', 'hls/w/v/a2/t0.1/360p/7.ts', 'hls/w/v/a2/t0.1/'],
    ['of a try with a longer number', 'hls/w/v/a2/t0.20/360p/7.ts', 'hls/w/v/a2/t0.20/'],
    ['of a task with a longer number', 'hls/w/v/a2/t10.1/360p/7.ts', 'hls/w/v/a2/t10.1/'],
    ['of a try that the video refers to', 'hls/w/v/a2/t0.2/360p/7.ts', null],
    ['of no task', 'hls/w/v/a2/360p/7.ts', null],
  ])('%s', (_, key, prefix) => {
    expect(prefixOfLostTry('hls/w/v/a2/', key, new Set(['t0.2/', 't1.1/']))).toBe(prefix);
  });
});
