import { describe, expect, test } from '@jest/globals';
import { acceptsUploads, closedPrefixes, orphanedPrefix } from './orphaned-objects.ts';

const SOURCES = 'sources/w/v/';
const living = { id: 'v', workspace_id: 'w', deleted_at: null };

describe('closedPrefixes', () => {
  test.each([
    ['deleted', { ...living, status: 'ready', attempt: 2, deleted_at: new Date() }, [SOURCES, 'hls/w/v/']],
    ['failed without an upload', { ...living, status: 'failed', attempt: 0 }, [SOURCES]],
    ['failed', { ...living, status: 'failed', attempt: 2 }, [SOURCES, 'hls/w/v/a1/', 'hls/w/v/a2/']],
    ['uploading', { ...living, status: 'uploading', attempt: 0 }, []],
    ['processing', { ...living, status: 'processing', attempt: 3 }, [SOURCES, 'hls/w/v/a1/', 'hls/w/v/a2/']],
    ['ready', { ...living, status: 'ready', attempt: 2 }, [SOURCES, 'hls/w/v/a1/', 'hls/w/v/a2/']],
  ] as const)('%s', (_, video, prefixes) => {
    expect(closedPrefixes(video)).toEqual(prefixes);
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

describe('orphanedPrefix', () => {
  test.each([
    ['of another transfer', 'sources/w/v/x2/original', 'sources/w/v/x2/'],
    ['of a transfer with a longer name', 'sources/w/v/x10/original', 'sources/w/v/x10/'],
    ['with the end of an unfinished source', 'sources/w/v/x1.tail/1-a', 'sources/w/v/x1.tail/'],
    ['of the source itself', 'sources/w/v/x1/original', null],
    ['of no transfer', 'sources/w/v/original', null],
    ['of another try', 'hls/w/v/a2/t0.1/360p/7.ts', 'hls/w/v/a2/t0.1/360p/'],
    ['of a try with a longer number', 'hls/w/v/a2/t0.20/poster.jpg', 'hls/w/v/a2/t0.20/'],
    ['of a task with a longer number', 'hls/w/v/a2/t10.1/360p/7.ts', 'hls/w/v/a2/t10.1/360p/'],
    ['of an artifact', 'hls/w/v/a2/t0.2/360p/7.ts', null],
    ['of no task', 'hls/w/v/a2/poster.jpg', null],
    ['of no task, in a folder', 'hls/w/v/a2/360p/7.ts', 'hls/w/v/a2/360p/'],
  ])('%s', (_, key, prefix) => {
    const artifacts = ['sources/w/v/x1/', 'hls/w/v/a2/t0.2/', 'hls/w/v/a2/t1.1/'];
    expect(orphanedPrefix(key, artifacts)).toBe(prefix);
  });
});
