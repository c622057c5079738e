import { describe, expect, test } from '@jest/globals';
import { acceptsUploads, closedPrefixes, isOrphaned, prefixOf } from './orphaned-objects.ts';

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

describe('isOrphaned: an object', () => {
  test.each<[string, string, boolean]>([
    ['of another transfer', 'sources/w/v/x2/original', true],
    ['of a transfer with a longer name', 'sources/w/v/x10/original', true],
    ['with the end of an unfinished source', 'sources/w/v/x1.tail/1-a', true],
    ['of the source itself', 'sources/w/v/x1/original', false],
    ['of no transfer', 'sources/w/v/original', false],
    ['of another try', 'hls/w/v/a2/t0.1/360p/7.ts', true],
    ['of a try with a longer number', 'hls/w/v/a2/t0.20/poster.jpg', true],
    ['of a task with a longer number', 'hls/w/v/a2/t10.1/360p/7.ts', true],
    ['of an artifact', 'hls/w/v/a2/t0.2/360p/7.ts', false],
    ['of no task', 'hls/w/v/a2/poster.jpg', false],
    ['of any try of a task', 'hls/w/v/a2/t5.3/360p/7.ts', false],
    ['of a task whose number has another digit', 'hls/w/v/a2/t51.3/360p/7.ts', true],
    ['of no task, in a folder', 'hls/w/v/a2/360p/7.ts', true],
  ])('%s', (_, key, expected) => {
    const kept = ['sources/w/v/x1/', 'hls/w/v/a2/t0.2/', 'hls/w/v/a2/t1.1/', 'hls/w/v/a2/t5.'];
    expect(isOrphaned(prefixOf(key), kept)).toBe(expected);
  });
});
