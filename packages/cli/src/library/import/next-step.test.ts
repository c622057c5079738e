import { expect, test } from '@jest/globals';
import { type KnownVideo, KnownVideos, nextStep } from './next-step.ts';

const video = (fields: Partial<KnownVideo>): KnownVideo => ({
  id: 'vid_1',
  status: 'ready',
  metadata: { importedFrom: 'mux:1' },
  error: null,
  import: null,
  ...fields,
});
const fetched = { url: 'x', bytes: 0, totalBytes: null, tries: 0, nextTryAt: null, failure: null };
const importing = { importing: 'mux:1' };

test('a video that nobody has imported is created', () => {
  expect(nextStep({}, undefined)).toEqual({ kind: 'create' });
});

test('a video that cannot be imported fails, unless it was imported before', () => {
  expect(nextStep({ unsupported: 'No file.' }, undefined)).toEqual({ kind: 'fail', reason: 'No file.' });
  expect(nextStep({ unsupported: 'No file.' }, video({}))).toMatchObject({ kind: 'skip' });
});

test.each([
  ['arrived', { status: 'processing' as const }],
  ['arrived', { status: 'ready' as const }],
  ['upload', { status: 'uploading' as const }],
  ['url', { status: 'uploading' as const, import: fetched }],
])('an import that was not completed is continued: %s', (file, fields) => {
  expect(nextStep({}, video({ metadata: importing, ...fields }))).toEqual({
    kind: 'continue',
    videoId: 'vid_1',
    file,
  });
});

test.each(['import_unreachable', 'upload_expired'] as const)('%s says nothing about the file', (code) => {
  const failed = video({ status: 'failed', metadata: importing, error: { code, message: 'm' } });
  expect(nextStep({}, failed)).toEqual({ kind: 'create', replaces: 'vid_1' });
});

test('a file that is no video is not imported again', () => {
  const error = { code: 'not_a_video' as const, message: 'It is not a video.' };
  expect(nextStep({}, video({ status: 'failed', error }))).toEqual({
    kind: 'fail',
    videoId: 'vid_1',
    reason: 'It is not a video. Delete vid_1 to import it again.',
  });
});

test('an import that was not completed is known as that', () => {
  const known = new KnownVideos();
  known.add(video({ metadata: { ...importing, other: 'x' } }));
  const found = known.get('mux:1');
  expect(nextStep({}, found)).toMatchObject({ kind: 'continue' });
  expect(found?.metadata).toEqual(importing);
});

test('videos are known by all ids of their originals; one that is not failed counts', () => {
  const known = new KnownVideos();
  known.add(video({ id: 'vid_3', status: 'failed', metadata: importing }));
  known.add(video({ id: 'vid_2', metadata: { importedFrom: 'framelane:vid_0 mux:1' } }));
  known.add(video({ id: 'vid_1', status: 'failed' }));
  known.add(video({ id: 'vid_0', metadata: {} }));
  expect(known.get('mux:1')?.id).toBe('vid_2');
  expect(known.get('framelane:vid_0')?.id).toBe('vid_2');
  expect(known.get('mux:2')).toBeUndefined();
});
