import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { endsSentence, isAbbreviation } from './sentence-ends.ts';

/** The parts of a text that end where a sentence does. */
function sentences(text: string, between = ' '): string[] {
  const words = between === '' ? [...text] : text.split(between);
  const found: string[] = [];
  let sentence: string[] = [];
  for (const [at, word] of words.entries()) {
    sentence.push(word);
    const next = words[at + 1];
    if (next === undefined || endsSentence(word, next)) {
      found.push(sentence.join(between));
      sentence = [];
    }
  }
  return found;
}

describe('a sentence ends', () => {
  test.each([
    [
      'English',
      [
        'Good morning, Mr. Smith.',
        'Dr. Jones and Mrs. Lee came from St. Louis at 9 a.m. on Jan. 5, 2020.',
        'The U.S. Army said it was 3.5 percent, e.g. of J. R. R. Tolkien.',
        'The end was in 1945.',
        'See fig. 3 and No. 5, etc. in the book.',
        'I watch TV.',
        '"Is it?" he asked.',
        'Wait... what?',
        'Yes!',
      ],
    ],
    [
      'German',
      [
        'Das ist z. B. Herr Dr. Müller.',
        'Er kam am 3. Oktober 1990.',
        'Siehe Nr. 5 und S. 12, d. h. das Ende.',
        'Das gilt bzw. galt usw. für alle.',
        'Die Welt ist klein.',
        'Das Haus ist groß.',
      ],
    ],
    [
      'French',
      [
        'M. Dupont est là.',
        'Le Dr Petit et M. J. Durand arrivent.',
        'Voir p. 12 et art. 5, etc. et tout.',
        'Fin.',
      ],
    ],
    [
      'Spanish',
      ['El Sr. García y el Dr. Ruiz llegaron.', '¿Cómo está?', '¡Muy bien!', 'Véase la pág. 5, p. ej. esto.'],
    ],
    ['Russian', ['А. С. Пушкин родился в 1799 г. в Москве.', 'То есть, т. е. да.', 'Правда?', 'Да!']],
  ])('in %s where one does', (_, expected) => {
    expect(sentences(expected.join(' '))).toEqual(expected);
  });

  test('in Japanese, without spaces', () => {
    const expected = ['今日は良い天気です。', '本当ですか？', 'はい！'];
    expect(sentences(expected.join(''), '')).toEqual(expected);
  });

  test('after what closes it', () => {
    for (const word of [' so."', ' (so.)', ' « Non. »', ' «Ja!»', ' “No.”'])
      expect(endsSentence(word, ' Then')).toBe(true);
    for (const word of [' so', ' so,', ' 3.5', '']) expect(endsSentence(word, ' Then')).toBe(false);
  });

  test('before a word in quotes, or in a script without cases', () => {
    expect(endsSentence('so.', ' "Then')).toBe(true);
    expect(endsSentence('so.', ' "then')).toBe(false);
    expect(endsSentence('है।', ' यह')).toBe(true);
  });

  test('before a number, unless the word can be abbreviated', () => {
    expect(endsSentence('ended.', ' 20')).toBe(true);
    expect(endsSentence('Art.', ' 20')).toBe(false);
    expect(endsSentence('Art!', ' 20')).toBe(true);
  });

  // There is no list of words.
  test('also after abbreviations with a vowel, such as Prof. and Sra.', () => {
    expect(endsSentence('Prof.', ' Brown')).toBe(true);
  });
});

test('abbreviations are initials, ordinal numbers and words without a vowel', () => {
  for (const word of [' Mr.', '"Dr.', 'Ph.D.', 'z.', 'J.', 'U.S.', '24.', 'Şrt.', 'г.'])
    expect([word, isAbbreviation(word)]).toEqual([word, true]);
  for (const word of ['Mr', 'My.', 'TV.', 'Über.', '1945.', 'Well..', '...', '.', '', 'example.com.', 'Dr.,'])
    expect([word, isAbbreviation(word)]).toEqual([word, false]);
});

test('ends are found in linear time', async () => {
  for (const text of ['a', 'a.', '.', ' ', '"', 'x"'])
    await requireLinearTime(
      2 ** 16,
      (size) => text.repeat(size / text.length),
      (word) => endsSentence(word, word),
    );
});
