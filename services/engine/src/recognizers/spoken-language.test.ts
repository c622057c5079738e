import { expect, test } from '@jest/globals';
import { languageOfAnswer, primaryLanguage } from './spoken-language.ts';

test.each([
  ['english', 'en'],
  ['German', 'de'],
  ['en', 'en'],
  ['eng', 'en'],
  ['pt-br', 'pt-BR'],
  ['haitian creole', 'ht'],
  [' chinese ', 'zh'],
  ['nonsense', null],
  ['', null],
  [null, null],
])('%j is %j', (answer, tag) => {
  expect(languageOfAnswer(answer)).toBe(tag);
});

test('recognisers get the primary language', () => {
  expect(['pt-BR', 'en', 'zh-Hant-TW'].map(primaryLanguage)).toEqual(['pt', 'en', 'zh']);
});
