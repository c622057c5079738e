import type { Schemas, Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { entryTime, stageOf, timelineWords } from './timeline-words.ts';

const AT = '2026-11-22T10:00:00.000Z';
const NOW = Date.parse(AT) + 60_000;
const video = (fields: Partial<Video> = {}) =>
  ({
    ...{ status: 'processing', progress: 40, import: null, clipOf: null, error: null, expiresAt: null },
    ...fields,
  }) as Video;
const attempt = (outcome: Schemas['TimelineAttempt']['outcome'], number = 1): Schemas['TimelineEntry'] => ({
  type: 'attempt',
  at: AT,
  attempt: {
    number,
    outcome,
    endedAt: outcome === 'running' ? null : '2026-11-22T10:00:12.000Z',
    tasks: null,
  },
});
const step = (type: Schemas['TimelineEntry']['type']) => ({ type, at: AT, attempt: null });
const timeline = (entries: Schemas['TimelineEntry'][], loadedAt = NOW) => ({ entries, loadedAt });
const IMPORT = { url: '', bytes: 50, totalBytes: 200, tries: 0, nextTryAt: null, failure: null };

test.each([
  [step('created'), 'Upload ticket created'],
  [attempt('running'), 'Attempt 1 is running'],
  [attempt('completed', 2), 'Attempt 2 completed after 12 s'],
  [attempt('failed'), 'Attempt 1 failed after 12 s'],
  [attempt('engine_lost'), 'Attempt 1 ended: the engine no longer responded'],
  [attempt('handed_back'), 'Attempt 1 was handed back: the engine shut down'],
  [step('retried'), 'Retried'],
  [step('waiting'), 'Waiting for an engine'],
  [step('failed'), 'Failed'],
])('%j', (entry, words) => {
  expect(timelineWords(entry, video(), NOW)).toBe(words);
});

test('an import, a failure and a delay have words of their own', () => {
  expect(timelineWords(step('uploaded'), video({ import: IMPORT }), NOW)).toBe('Import finished');
  const error = { code: 'no_video_track', message: 'The file has no video.' } as const;
  expect(timelineWords(step('failed'), video({ error }), NOW)).toBe('Failed: The file has no video.');
  expect(timelineWords(step('waiting'), video(), NOW - 120_000)).toBe('Next attempt planned');
});

test('a clip is requested, and is made', () => {
  const clip = video({ clipOf: { videoId: '', start: 0, end: 1 } });
  expect(timelineWords(step('created'), clip, NOW)).toBe('Clip requested');
  expect(stageOf(clip, timeline([step('waiting')])).now).toBe('The clip waits for an engine.');
  expect(stageOf(clip, timeline([attempt('running', 2)])).now).toBe(
    'The clip is being made: 40 %. This is attempt 2.',
  );
});

test('the stage says what happens, how far it is, and what comes next', () => {
  expect(stageOf(video(), timeline([attempt('running')]))).toMatchObject({
    percent: 40,
    now: 'The video is being transcoded: 40 %, about 2 min left.',
  });
  expect(stageOf(video({ progress: 4 }), timeline([attempt('running')])).now).toBe(
    'The video is being transcoded: 4 %.',
  );
  const preview = { hls: '', variants: ['720p', '1080p'] } as const;
  expect(stageOf(video({ preview } as never), timeline([attempt('running')])).next).toMatch(
    /^It can be played already, in 720p, 1080p\./,
  );
  expect(stageOf(video(), timeline([attempt('running', 3)])).now).toMatch(/: 40 %\. This is attempt 3\.$/);
  expect(stageOf(video(), timeline([step('waiting')]))).toMatchObject({
    percent: null,
    now: 'The file waits for an engine.',
  });
  expect(stageOf(video(), timeline([step('waiting')], NOW - 120_000)).now).toMatch(
    /^The next attempt is planned for \d?\d:\d\d:\d\d( [AP]M)?\.$/u,
  );
  expect(stageOf(video({ status: 'uploading', expiresAt: AT }), undefined).now).toMatch(
    /^Framelane waits .* before/,
  );
  const importing = { ...IMPORT, tries: 1, nextTryAt: AT };
  expect(stageOf(video({ status: 'uploading', import: importing }), undefined)).toMatchObject({
    percent: 25,
    now: expect.stringMatching(/^Framelane fetches the file: 25 %\. Try 1 failed; the next one begins at /),
  });
});

test('an entry has the day of its time, unless the entry before it has the same', () => {
  const day = /2026/;
  expect(entryTime(AT, undefined)).toMatch(day);
  expect(entryTime('2026-11-22T10:00:05.000Z', AT)).toMatch(/^\d?\d:\d\d:05( [AP]M)?$/u);
  expect(entryTime('2026-11-24T10:00:05.000Z', AT)).toMatch(day);
});
