import { expect, test } from '@jest/globals';
import { languageTagOf } from './language-tag.ts';

test.each([
  ['English', 'en'],
  [' german ', 'de'],
  ['Brazilian  Portuguese', 'pt-BR'],
  ['Simplified Chinese', 'zh-Hans'],
  ['Cantonese', 'yue'],
  // Deprecated codes have these names, too.
  ['Hebrew', 'he'],
  ['Yiddish', 'yi'],
])('the English name of a language has a tag: %s', (name, tag) => {
  expect(languageTagOf(name)).toBe(tag);
});

test('a tag stays as it was typed', () => {
  const tags = ['en', 'PT-br', 'zh-Hans-CN', 'de-CH-1996', 'fil', 'en-x-a'];
  expect(tags.map(languageTagOf)).toEqual(tags);
});

test('what is neither a tag nor a name has none', () => {
  expect(['', ' ', 'Englich', 'en_US', 'en-', 'English (US)', 'subtitles'].map(languageTagOf)).toEqual(
    Array(7).fill(undefined),
  );
});
