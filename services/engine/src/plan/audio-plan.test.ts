import { expect, test } from '@jest/globals';
import { audioLabels } from './audio-plan.ts';

const track = (title: string | null, language: string | null = null) => ({ title, language });

test('audio is named after its title, else its language, and no two names are equal', () => {
  const tracks = [
    ...[track(null, 'en'), track(null, 'fr'), track(null, 'en'), track(null, 'pt-BR')],
    ...[
      track(null, 'it-x-roma'),
      track(null, 'qaa'),
      track('Director'),
      track('  '),
      track('Director', 'de'),
    ],
  ];
  expect(audioLabels(tracks)).toEqual([
    ...['English', 'Français', 'English 2', 'Português (Brasil)'],
    ...['Italiano', 'Audio', 'Director', 'Audio 2', 'Director 2'],
  ]);
});

test.each([
  ['quotation marks', 'The "cut"', "The 'cut'"],
  ['line breaks and bidirectional formatting', 'one\r\n\u202etwo', 'one two'],
  ['more than 80 characters', '🎬'.repeat(90), '🎬'.repeat(80)],
  ['only unprintable characters', '\u0000\u2028', 'Deutsch'],
])('a title with %s is safe in a playlist', (_, title, label) => {
  expect(audioLabels([track(title, 'de')])).toEqual([label]);
});
