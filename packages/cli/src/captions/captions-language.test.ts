import { expect, test } from '@jest/globals';
import { captionsLanguage } from './captions-language.ts';

test.each([
  ['talk.en.vtt', undefined, 'en'],
  ['talk.pt-BR.srt', undefined, 'pt-BR'],
  ['talk.en.vtt', 'de', 'de'],
])('%s with --language %p is in %s', (name, given, language) => {
  expect(captionsLanguage(name, given)).toBe(language);
});

test.each(['talk.vtt', 'en.vtt', 'talk.english.vtt'])('the name %s says no language', (name) => {
  expect(() => captionsLanguage(name, undefined)).toThrow('Add --language');
});
