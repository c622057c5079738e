import { expect, test } from '@jest/globals';
import { canonicalLanguage, languageName } from './languages.ts';

test.each([
  ['en', 'en'],
  ['EN-us', 'en-US'],
  ['eng', 'en'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['en-x-sdh', 'en-x-sdh'],
  ['und', 'und'],
  ['gsw', 'gsw'],
])('%s is %s', (text, tag) => {
  expect(canonicalLanguage(text)).toBe(tag);
});

test.each([
  '',
  'e',
  'english',
  'en_US',
  'en-',
  '12',
  '../en',
  'en\n',
  'x-private',
  // Longer than the limit of 35 characters, and otherwise well-formed.
  'en-abcdefgh-bcdefghi-cdefghij-defghijk',
])('%j is not a language', (text) => {
  expect(canonicalLanguage(text)).toBeUndefined();
});

test('languages are called by their own name', () => {
  const tags = ['de', 'fr', 'pt-BR', 'de-x-sdh', 'de-u-co-phonebk', 'de-1996', 'qaa', 'und'];
  expect(tags.map(languageName)).toEqual([
    ...['Deutsch', 'Français', 'Português (Brasil)', 'Deutsch', 'Deutsch'],
    expect.stringContaining('Deutsch'),
    ...[undefined, undefined],
  ]);
});
