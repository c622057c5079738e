import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import type { Word } from '../../recognizers/words.ts';
import { CaptionCues } from './caption-cues.ts';

/** Words of a text that are spoken one after the other, from a time on. */
function spoken(text: string, { from = 0, each = 0.3 } = {}): Word[] {
  return text.split(' ').map((word, at) => ({
    text: ` ${word}`,
    start: from + at * each,
    end: from + (at + 1) * each,
  }));
}

/** A text 50 times, with numbers: repeated cues are left out. */
function numbered(text: string): string {
  return Array.from({ length: 50 }, (_, at) => `${at}${text}`).join('');
}

function cues(...parts: readonly Word[][]) {
  const builder = new CaptionCues();
  for (const words of parts) builder.add(words);
  return builder.finish().map(({ start, end, text }) => [start, end, text]);
}

describe('cues', () => {
  test('are sentences', () => {
    expect(cues(spoken('This is the first sentence. And is this the second one? Yes.'))).toEqual([
      [0, 1500, 'This is the first sentence.'],
      [1500, 3300, 'And is this the second one?'],
      [3300, 3600, 'Yes.'],
    ]);
  });

  test('join sentences that are too short to read alone', () => {
    expect(cues(spoken('No. Yes. Well, then we should go.'))).toEqual([
      [0, 2100, 'No. Yes. Well, then we should go.'],
    ]);
  });

  test('have two lines of about the same length', () => {
    expect(cues(spoken('This sentence is somewhat longer than one line can be.'))).toEqual([
      [0, 3000, 'This sentence is somewhat\nlonger than one line can be.'],
    ]);
  });

  test('end with a clause if the sentence does not fit', () => {
    const sentence =
      'This sentence has many words that do not fit into one cue, so it is divided after a comma and it goes on.';
    expect(cues(spoken(sentence, { each: 0.2 })).map(([, , text]) => text)).toEqual([
      'This sentence has many words\nthat do not fit into one cue,',
      'so it is divided after\na comma and it goes on.',
    ]);
  });

  test('do not end after a title or an abbreviation', () => {
    expect(cues(spoken('Then we all saw Mr. Smith. He is e.g. a friend of Dr. J. Miller.'))).toEqual([
      [0, 1800, 'Then we all saw Mr. Smith.'],
      [1800, 4500, 'He is e.g. a friend of Dr. J. Miller.'],
    ]);
  });

  test('and lines do not end with a title, either', () => {
    const sentence = 'We went to see the old Mr. Smith of the great house';
    expect(cues(spoken(sentence)).map(([, , text]) => text)).toEqual([
      'We went to see the old\nMr. Smith of the great house',
    ]);
    const long = `${'aaaaaaaa '.repeat(7)}Mr. Smithsonian`;
    expect(cues(spoken(long)).map(([, , text]) => text)).toEqual([
      'aaaaaaaa aaaaaaaa aaaaaaaa\naaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa',
      'Mr. Smithsonian',
    ]);
  });

  test('end at a pause, and are not shown for long', () => {
    expect(cues([...spoken('Wait for'), ...spoken('it.', { from: 3 })])).toEqual([
      [0, 1000, 'Wait for'],
      [3000, 3300, 'it.'],
    ]);
    const slow = cues(spoken('one two three four five six seven eight', { each: 1.5 }));
    for (const [start, end] of slow) expect(Number(end) - Number(start)).toBeLessThanOrEqual(7000);
  });

  test('go on in the next part of the sound, and no word is in two', () => {
    expect(cues(spoken('The end of this'), spoken('comes in another part.', { from: 1.2 }))).toEqual([
      [0, 2400, 'The end of this comes in another part.'],
    ]);
  });

  test('are shown for a second, unless the next one begins before', () => {
    expect(cues([...spoken('Go!'), ...spoken('Stop!', { from: 1.5 })])).toEqual([
      [0, 1000, 'Go!'],
      [1500, 1800, 'Stop!'],
    ]);
  });

  test('without a duration are left out', () => {
    expect(cues(spoken('a '.repeat(60).trim(), { each: 0 })).length).toBeLessThanOrEqual(1);
  });

  test('that are repeated in all parts of the sound are shown twice', () => {
    const parts = Array.from({ length: 20 }, (_, at) => spoken('Thanks for watching!', { from: 30 * at }));
    expect(cues(...parts, spoken('The end.', { from: 700 })).map(([start]) => start)).toEqual([
      0, 30_000, 700_000,
    ]);
  });

  test('that are repeated after a long pause are shown', () => {
    const parts = Array.from({ length: 4 }, (_, at) => spoken('Next slide, please.', { from: 120 * at }));
    expect(cues(...parts)).toHaveLength(4);
  });

  test('are shown for at most seven seconds', () => {
    const slow = [{ text: ' Hello.', start: 0, end: 60 }];
    expect(cues(slow, spoken('One two three.', { from: 70, each: 9 }))).toEqual(
      [0, 70_000, 79_000, 88_000].map((start) => [start, start + 7000, expect.any(String)]),
    );
  });

  test('have no markup of the text', () => {
    expect(cues(spoken('<b>1&2</b>'))).toEqual([[0, 300, '&lt;b&gt;1&amp;2&lt;/b&gt;']]);
  });

  test.each([
    [
      'words longer than a line',
      [{ text: Array.from({ length: 200 }, (_, at) => at).join(''), start: 0, end: 9 }],
    ],
    [
      'wide characters',
      [...numbered('今日は良い天気です。')].map((text, at) => ({ text, start: at / 5, end: (at + 1) / 5 })),
    ],
    ['ordinary words', spoken(numbered(' some words of a very long text without any sign').trim())],
  ])('have at most two lines of 42 columns: %s', (_, words) => {
    const all = cues(words);
    expect(all.length).toBeGreaterThan(1);
    let before = 0;
    for (const [start, end, text] of all) {
      const lines = String(text).split('\n');
      expect(lines.length).toBeLessThanOrEqual(2);
      for (const line of lines) {
        const columns = [...line].reduce(
          (sum, character) => sum + (/[\u3000-\u9fff]/.test(character) ? 2 : 1),
          0,
        );
        expect(columns).toBeLessThanOrEqual(42);
      }
      expect(Number(start)).toBeGreaterThanOrEqual(before);
      before = Number(end);
    }
    const joined = all
      .map(([, , text]) => String(text).replaceAll('\n', ''))
      .join('')
      .replaceAll(' ', '');
    expect(joined).toBe(
      words
        .map(({ text }) => text)
        .join('')
        .replaceAll(' ', ''),
    );
  });

  test('are made in linear time', async () => {
    await requireLinearTime(2 ** 16, (size) => [{ text: 'x'.repeat(size), start: 0, end: 60 }], cues);
    await requireLinearTime(2 ** 16, (size) => spoken('a '.repeat(size).trim(), { each: 0.001 }), cues);
  });
});
