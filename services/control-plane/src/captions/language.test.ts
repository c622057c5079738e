import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import { canonicalLanguage, languageName, requireLanguage } from './language.ts';

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
  `en${'-abcdefgh'.repeat(4)}`,
])('%j is not a language', (text) => {
  expect(canonicalLanguage(text)).toBeUndefined();
  expect(() => requireLanguage(text)).toThrow(Problem);
});

test('languages are called by their own name', () => {
  expect(['de', 'pt-BR', 'de-x-sdh', 'de-u-co-phonebk', 'de-1996', 'qaa'].map(languageName)).toEqual([
    'Deutsch',
    'português (Brasil)',
    'Deutsch',
    'Deutsch',
    expect.stringContaining('Deutsch'),
    'qaa',
  ]);
});
