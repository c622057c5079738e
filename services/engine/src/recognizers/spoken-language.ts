import { canonicalLanguage } from '@framelane/contracts/languages';
import { iso6393To1 } from 'iso-639-3';

const NAMES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Tags by the English name of their language in lower case. */
const BY_NAME = new Map(
  Object.values(iso6393To1).flatMap((tag) => {
    const name = NAMES.of(tag)?.toLowerCase();
    return name === undefined ? [] : [[name, tag] as const];
  }),
);

/** The canonical tag of the language that a recogniser has detected: it writes a tag, or an English name. Null for anything else. */
export function languageOfAnswer(text: string | null): string | null {
  if (text === null) return null;
  return BY_NAME.get(text.trim().toLowerCase()) ?? canonicalLanguage(text.trim()) ?? null;
}

/** The language of a tag without its region and script: recognisers know no others. */
export function primaryLanguage(tag: string): string {
  return tag.split('-', 1)[0] ?? '';
}
