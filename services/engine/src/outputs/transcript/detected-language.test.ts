import { describe, expect, test } from '@jest/globals';
import { DetectedLanguage } from './detected-language.ts';

/** What was detected after parts with these languages and numbers of words. */
function after(...parts: readonly [language: string | null, words: number][]): DetectedLanguage {
  const detected = new DetectedLanguage();
  for (const [language, words] of parts)
    detected.add({ language, words: Array(words).fill({ text: 'word', start: 0, end: 1 }) });
  return detected;
}

describe('the language that was detected', () => {
  test('is that of most words', () => {
    expect(after(['welsh', 6], ['en', 10], ['english', 5]).likely).toBe('en');
    expect(after(['nobody speaks this', 9], ['en', 1]).likely).toBeNull();
    expect(after().likely).toBeNull();
  });

  test('is sure after 30 words in two parts', () => {
    expect(after(['en-GB', 25], ['en', 5]).sure).toBeNull();
    expect(after(['en', 25], ['en', 5]).sure).toBe('en');
    expect(after(['pt-BR', 40], ['pt-BR', 1]).sure).toBe('pt');
    expect(after(['en', 10], ['en', 10]).sure).toBeNull();
  });

  test('is not that of one part, whose words a recogniser can have invented for music', () => {
    expect(after(['welsh', 50]).sure).toBeNull();
    expect(after(['welsh', 50], ['en', 40], ['en', 40]).sure).toBe('en');
    expect(after(['welsh', 50], ['en', 0]).sure).toBeNull();
  });
});
