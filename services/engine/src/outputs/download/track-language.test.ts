import { expect, test } from '@jest/globals';
import { languageOfTrack } from './track-language.ts';

test.each([
  [null, 'und'],
  ['en', 'eng'],
  ['de-AT', 'deu'],
  ['pt-BR', 'por'],
  ['zh-Hant', 'zho'],
  ['gsw', 'gsw'],
  ['und', 'und'],
])('%s is %s', (tag, expected) => {
  expect(languageOfTrack(tag)).toBe(expected);
});
