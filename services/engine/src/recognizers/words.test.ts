import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { type TimedPart, wordsOf } from './words.ts';

/** Parts that last half a second each, one after the other. */
const parts = (...texts: string[]): TimedPart[] =>
  texts.map((text, at) => ({ text, start: at / 2, end: (at + 1) / 2 }));
const shown = (text: string, timed: TimedPart[]) =>
  wordsOf({ text, start: 0, end: 4, parts: timed }).map((word) => [word.text, word.start, word.end]);

describe('the words of a segment', () => {
  test('have the punctuation of its text, although the parts have none (OpenAI)', () => {
    expect(shown(' Hello, dear world!', parts('hello', 'dear', 'world'))).toEqual([
      [' Hello,', 0, 0.5],
      [' dear', 0.5, 1],
      [' world!', 1, 1.5],
    ]);
  });

  test('are joined from parts of words (whisper.cpp)', () => {
    expect(shown(' Framelane is.', parts('[_BEG_]', ' Fram', 'el', 'ane', ' is', '.', '[_TT_50]'))).toEqual([
      [' Framelane', 0.5, 2],
      [' is.', 2, 3],
    ]);
  });

  test('are single characters in scripts without spaces', () => {
    expect(shown('今日は', parts('今', '日', 'は'))).toEqual([
      ['今', 0, 0.5],
      ['日', 0.5, 1],
      ['は', 1, 1.5],
    ]);
  });

  test('end with the signs of these scripts, after which a sentence can begin', () => {
    const found = shown('はい。「今」と。', parts('は', 'い', '。', '「', '今', '」', 'と', '。'));
    expect(found.map(([word]) => word)).toEqual(['は', 'い。', '「今」', 'と。']);
  });

  test('that no part has belong to the one before, with a part of its time', () => {
    expect(shown(' twenty-five 99 or more', parts('twenty-five', 'ninety-nine', 'more'))).toEqual([
      [' twenty-five', 0, expect.closeTo(0.367, 3)],
      [' 99', expect.closeTo(0.367, 3), expect.closeTo(0.433, 3)],
      [' or', expect.closeTo(0.433, 3), 0.5],
      [' more', 1, 1.5],
    ]);
  });

  test.each([
    ['without parts', []],
    ['with parts', parts(' Ça', ' va', ' ?', ' Oui', ' :', ' 9', ' %', ' !')],
  ])('have signs that are apart from them in French, %s', (_, timed) => {
    expect(shown(' Ça va ? Oui : 9 % !', timed).map(([word]) => word)).toEqual([
      ' Ça',
      ' va ?',
      ' Oui :',
      ' 9 % !',
    ]);
    expect(shown(' « Non » ?', []).map(([word]) => word)).toEqual([' «', ' Non » ?']);
  });

  test('share the time of the segment if it has no parts, or none of its text', () => {
    const expected = [
      [' One', 0, 2],
      [' two', 2, 4],
    ];
    expect(shown(' One two', [])).toEqual(expected);
    expect(shown(' One two', parts('drei'))).toEqual(expected);
    expect(shown(' One two', [{ text: 'One', start: null, end: null }])).toEqual(expected);
  });

  test('are the whole text, whatever the parts are', () => {
    const text = ' a b a b, a - c; a';
    for (const timed of [parts('a', 'a', 'a'), parts('c', 'a'), parts(' ', '', ',', 'b'), parts('A', 'B')])
      expect(
        shown(text, timed)
          .map(([word]) => word)
          .join(''),
      ).toBe(text);
  });

  test('without a time have none', () => {
    expect(wordsOf({ text: 'A', start: null, end: null, parts: [] })).toEqual([
      { text: 'A', start: Number.NaN, end: Number.NaN },
    ]);
    expect(wordsOf({ text: '  ', start: 1, end: 2, parts: [] })).toEqual([]);
  });

  test('are found in linear time', async () => {
    const inputOf = (size: number) => ({
      ...{ text: 'ab '.repeat(size), start: 0, end: size },
      parts: Array.from({ length: size }, (_, at) => ({ text: 'ab', start: at, end: at })),
    });
    await requireLinearTime(2 ** 17, inputOf, wordsOf);
  });
});
