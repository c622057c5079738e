import { describe, expect, test } from '@jest/globals';
import { chaptersFile } from './chapters-webvtt.ts';
import { readChapters } from './read-chapters.ts';

const read = (file: string, duration: number | null = null) =>
  readChapters({ file: Buffer.from(file), duration });
const cue = (at: number, text: string) =>
  `00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}.000 --> 10:00:00.000\n${text}\n\n`;
const many = (count: number) =>
  `WEBVTT\n\n${Array.from({ length: count }, (_, at) => cue(at, 'A')).join('')}`;

describe('a WebVTT file', () => {
  test('has the start and the text of each cue', () => {
    expect(read(`WEBVTT\n\n${cue(62, 'B')}${cue(1, 'A')}`)).toEqual({
      chapters: [
        { start: 1000, title: 'A' },
        { start: 62_000, title: 'B' },
      ],
    });
  });

  test.each([
    ['<b>A</b> <script>x</script>', 'A x'],
    ['&lt;b&gt; &amp;amp; &#39;', "<b> &amp; '"],
    ['A\nB', 'A B'],
    ['A \u202eB\u2066', 'A B'],
    ['<v Ada>A', 'A'],
  ])('has %j as the title %j', (text, title) => {
    expect(read(`WEBVTT\n\n${cue(0, text)}`).chapters).toEqual([{ start: 0, title }]);
  });

  test('can be written and read again', () => {
    const title = '<i> --> & &lt; "';
    const file = chaptersFile([{ start: 1.5, end: 3, title }]);
    expect(file).toBe('WEBVTT\n\n00:00:01.500 --> 00:00:03.000\n&lt;i&gt; --&gt; &amp; &amp;lt; "\n');
    expect(read(file).chapters).toEqual([{ start: 1500, title }]);
  });

  test('has at most 500 chapters', () => {
    expect(read(many(500)).chapters).toHaveLength(500);
    const message = 'The file has 501 chapters. A video can have at most 500.';
    expect(read(many(501)).error).toEqual({ message, line: null });
  });

  test('has titles of at most 255 characters', () => {
    expect(read(`WEBVTT\n\n${cue(0, '😀'.repeat(255))}`).error).toBeUndefined();
    expect(read(`WEBVTT\n\n${cue(0, '😀'.repeat(256))}`).error).toEqual({
      message: 'The title of the chapter at 00:00:00.000 has more than 255 characters.',
      line: null,
    });
  });

  test('has no two chapters that begin together', () => {
    expect(read(`WEBVTT\n\n${cue(2, 'A')}${cue(1, 'B')}${cue(2, 'C')}`).error).toEqual({
      message: 'Two chapters begin at 00:00:02.000. Each must have a start of its own.',
      line: null,
    });
  });

  test('has errors with their line', () => {
    expect(read('WEBVTT\n\nA\n').error).toMatchObject({ line: 3 });
    expect(read(`WEBVTT\n\n${cue(2, 'A')}`, 2).error).toMatchObject({ line: 3 });
  });
});
