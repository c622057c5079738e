import type { AudioRendition } from '@framelane/contracts/renditions';

/** An audio rendition, and its language in canonical BCP 47 if the file says it. */
export type SpokenAudio = { name: AudioRendition; language: string | null };

/**
 * The audio in which a language is spoken: that with the same primary language, or the first one whose language is unknown. The default audio
 * if the language is to be detected (an empty text). Undefined if there is none. The default audio is first.
 */
export function audioFor(language: string, audio: readonly SpokenAudio[]): SpokenAudio | undefined {
  if (language === '') return audio[0];
  const spoken = primary(language);
  return (
    audio.find((track) => track.language !== null && primary(track.language) === spoken) ??
    audio.find((track) => track.language === null || primary(track.language) === 'und')
  );
}

/** What clients are told if a video has no audio in a language. */
export function audioMissing(language: string, audio: readonly SpokenAudio[]): string {
  if (audio.length === 0) return 'This video has no audio.';
  const languages = [...new Set(audio.map((track) => track.language ?? 'und'))];
  return `This video has no audio in ${language}. It has ${languages.join(', ')}.`;
}

function primary(tag: string): string {
  return tag.split('-', 1)[0] ?? '';
}
