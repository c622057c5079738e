import { describe, expect, test } from '@jest/globals';
import { probedChapters, readChapters } from './source-chapters.ts';

const chapter = (start: number | string, end: number | string, title?: string) => ({
  start_time: String(start),
  end_time: String(end),
  ...(title !== undefined && { tags: { title } }),
});
const read = (chapters: object[] | undefined, startTime = 0) =>
  readChapters(probedChapters.parse(chapters), startTime);

describe('chapters of a file', () => {
  test('are none if ffprobe lists none', () => {
    expect(read(undefined)).toEqual([]);
  });

  test('are sorted, with milliseconds from the earliest timestamp', () => {
    expect(read([chapter(62.5, 70, 'B'), chapter(1.4, 62.5, 'A')], 1.4)).toEqual([
      { start: 0, end: 61_100, title: 'A' },
      { start: 61_100, end: 68_600, title: 'B' },
    ]);
  });

  test('may begin before the earliest timestamp', () => {
    expect(read([chapter(0, 6, 'A')], 5)).toEqual([{ start: -5000, end: 1000, title: 'A' }]);
  });

  test.each([
    ['first', [chapter(6, 20, 'Long'), chapter(6, 6, 'Empty')]],
    ['last', [chapter(6, 6, 'Empty'), chapter(6, 20, 'Long')]],
  ])('that begin together count once, if the one that ends last is the %s', (_, chapters) => {
    expect(read(chapters)).toEqual([{ start: 6000, end: 20_000, title: 'Long' }]);
  });

  test.each(['N/A', 'nan', '1e999'])('that begin at %s are left out', (start) => {
    expect(read([chapter(start, 2, 'A'), chapter(1, 'N/A', 'B')])).toEqual([{ start: 1000, title: 'B' }]);
  });

  test.each([
    ['control characters', ' A\u0000\r\nB\t\u009f', 'A B'],
    ['bidirectional formatting', 'A\u202eB\u2066', 'A B'],
    ['markup', '<script>alert(1)</script> & co', '<script>alert(1)</script> & co'],
    ['nothing', undefined, ''],
    ['256 characters of two code units', '😀'.repeat(256), '😀'.repeat(255)],
  ])('with a title of %s have plain text', (_, title, plain) => {
    expect(read([chapter(0, 1, title)])).toEqual([{ start: 0, end: 1000, title: plain }]);
  });

  test('are at most 500', () => {
    const chapters = Array.from({ length: 501 }, (_, at) => chapter(at, at + 1));
    expect(read(chapters.slice(1))).toHaveLength(500);
    expect(read(chapters)).toBe('too_many');
    expect(read([...chapters.slice(1), chapter(7, 8)])).toHaveLength(500);
  });
});
