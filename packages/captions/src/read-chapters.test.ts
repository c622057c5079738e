import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { CaptionsError } from './captions.ts';
import { readChapters } from './read-chapters.ts';

const LIMITS = { chapters: 500, titleLength: 255 };
const read = (file: string, duration: number | null = null) =>
  readChapters(Buffer.from(file), duration, LIMITS);
/** The message of the error, and its line. */
const errorOf = (file: string, duration: number | null = null) => {
  try {
    read(file, duration);
    return null;
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return [error.message, error.line];
  }
};
const cue = (at: number, text: string) =>
  `00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}.000 --> 10:00:00.000\n${text}\n\n`;
const many = (count: number) =>
  `WEBVTT\n\n${Array.from({ length: count }, (_, at) => cue(at, 'A')).join('')}`;

describe('a WebVTT file', () => {
  test('has the start and the text of each cue', () => {
    expect(read(`WEBVTT\n\n${cue(62, 'B')}${cue(1, 'A')}`)).toEqual([
      { start: 1000, title: 'A' },
      { start: 62_000, title: 'B' },
    ]);
  });

  test.each([
    ['<b>A</b> <script>x</script>', 'A x'],
    ['&lt;b&gt; &amp;amp; &#39;', "<b> &amp; '"],
    ['A\nB', 'A B'],
    ['A \u202eB\u2066', 'A B'],
    ['<v Ada>A', 'A'],
  ])('has %j as the title %j', (text, title) => {
    expect(read(`WEBVTT\n\n${cue(0, text)}`)).toEqual([{ start: 0, title }]);
  });

  test('has at most 500 chapters', () => {
    expect(read(many(500))).toHaveLength(500);
    const message = 'The file cannot be read: it has 501 chapters, and a video can have 500.';
    expect(errorOf(many(501))).toEqual([message, null]);
  });

  test('has titles of at most 255 characters', () => {
    expect(errorOf(`WEBVTT\n\n${cue(0, '😀'.repeat(255))}`)).toBeNull();
    const message = 'The file cannot be read: the title at 00:00:00.000 has more than 255 characters.';
    expect(errorOf(`WEBVTT\n\n${cue(0, '😀'.repeat(256))}`)).toEqual([message, null]);
  });

  test('has no two chapters that begin together', () => {
    expect(errorOf(`WEBVTT\n\n${cue(2, 'A')}${cue(1, 'B')}${cue(2, 'C')}`)).toEqual([
      'The file cannot be read: two chapters begin at 00:00:02.000. Each needs a start of its own.',
      null,
    ]);
  });

  test('has errors with their line', () => {
    expect(errorOf('WEBVTT\n\nA\n')?.[1]).toBe(3);
    expect(errorOf(`WEBVTT\n\n${cue(2, 'A')}`, 2)?.[1]).toBe(3);
  });

  test.each(['<', '&lt;', '\u202e', '<b>', ' '])('of many %j is read in linear time', async (token) => {
    const inputOf = (size: number) => `WEBVTT\n\n${cue(0, `A${token.repeat(size / token.length)}`)}`;
    await requireLinearTime(256 * 1024, inputOf, (file) => errorOf(file));
  });
});
