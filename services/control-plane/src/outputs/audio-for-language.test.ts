import { describe, expect, test } from '@jest/globals';
import { audioFor, audioMissing, type SpokenAudio } from './audio-for-language.ts';

const GERMAN: SpokenAudio = { name: 'audio', language: 'de-AT' };
const ENGLISH: SpokenAudio = { name: 'audio2', language: 'en' };
const UNKNOWN: SpokenAudio = { name: 'audio3', language: null };
const UNDETERMINED: SpokenAudio = { name: 'audio3', language: 'und' };

describe('the audio for captions', () => {
  test.each([
    ['', [GERMAN, ENGLISH], GERMAN],
    ['en-GB', [GERMAN, ENGLISH, UNKNOWN], ENGLISH],
    ['de', [ENGLISH, GERMAN], GERMAN],
    ['fr', [GERMAN, UNKNOWN], UNKNOWN],
    ['fr', [GERMAN, UNDETERMINED], UNDETERMINED],
    ['fr', [GERMAN, ENGLISH], undefined],
    ['', [], undefined],
  ] as const)('in %j of %j is %j', (language, audio, expected) => {
    expect(audioFor(language, audio)).toEqual(expected);
  });

  test('that is missing is explained', () => {
    expect(audioMissing('fr', [GERMAN, ENGLISH, ENGLISH])).toBe(
      'This video has no audio in fr. It has de-AT, en.',
    );
    expect(audioMissing('', [])).toBe('This video has no audio.');
  });
});
