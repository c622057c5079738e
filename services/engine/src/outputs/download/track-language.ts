import { iso6393To1 } from 'iso-639-3';

const UNDETERMINED = 'und';

/** Codes with three letters by those with two. */
const THREE_LETTERS = new Map(Object.entries(iso6393To1).map(([three, two]) => [two, three]));

/** The language of a track in MP4, which has three letters of ISO 639-2/T (ISO/IEC 14496-12 §8.4.2), for a canonical BCP 47 tag. */
export function languageOfTrack(tag: string | null): string {
  if (tag === null) return UNDETERMINED;
  const [language = ''] = tag.split('-');
  return language.length === 3 ? language : (THREE_LETTERS.get(language) ?? UNDETERMINED);
}
