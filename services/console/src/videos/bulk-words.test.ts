import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { consequencesOf, matchesCount, summaryOf } from './bulk-words.ts';

const stored = { status: 'failed', retryable: true, import: null, sourceFile: { stored: true } } as Video;
const imported = {
  ...stored,
  retryable: false,
  import: { url: 'https://a.example/clip.mp4' },
  sourceFile: { stored: false },
} as Video;

test('a retry says what becomes of each video', () => {
  const [transcode, again, others] = consequencesOf('retry', [stored, stored, imported], 3);
  expect(transcode).toMatch(/^2 videos: Framelane transcodes /);
  expect(again).toMatch(/^1 video: Framelane imports /);
  expect(others).toMatch(/^3 videos cannot be retried/);
  expect(consequencesOf('retry', [stored], 0)).toHaveLength(1);
  expect(consequencesOf('retry', [], 1)).toEqual([expect.stringMatching(/^1 video cannot be retried/)]);
});

test('only a deletion cannot be undone', () => {
  expect(consequencesOf('delete', [stored], 0)).toEqual([
    expect.stringMatching(/^1 video, .* cannot be undone/),
  ]);
  expect(consequencesOf('add', [stored], 0)).toEqual([]);
});

test('the summary counts what is done, failed and left', () => {
  const [a, b, c] = [1, 2, 3];
  expect(summaryOf('retry', { done: [a, b], failed: [], left: [] })).toBe('2 of 2 begun again');
  expect(summaryOf('delete', { done: [a], failed: [{ item: b, error: null }], left: [c] })).toBe(
    '1 of 3 deleted, 1 failed, 1 left',
  );
});

test('a number is typed with or without separators', () => {
  expect(['1323', ' 1,323 ', '1.323', '1 323', '1’323'].every((typed) => matchesCount(typed, 1323))).toBe(
    true,
  );
  expect(['', '132', '-1323', '1323 videos'].some((typed) => matchesCount(typed, 1323))).toBe(false);
  expect(matchesCount('1.3', 13)).toBe(false);
});
