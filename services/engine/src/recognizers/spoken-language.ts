import { canonicalLanguage } from '@framelane/contracts/languages';
import { iso6393To1 } from 'iso-639-3';

const NAMES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Names of recognisers that differ from those of CLDR. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  bengali: 'bn',
  burmese: 'my',
  cantonese: 'yue',
  castilian: 'es',
  faroese: 'fo',
  flemish: 'nl',
  haitian: 'ht',
  hawaiian: 'haw',
  letzeburgesch: 'lb',
  mandarin: 'zh',
  maori: 'mi',
  moldavian: 'ro',
  moldovan: 'ro',
  myanmar: 'my',
  nynorsk: 'nn',
  panjabi: 'pa',
  pushto: 'ps',
  sinhalese: 'si',
  tagalog: 'tl',
  valencian: 'ca',
};

/** Tags by the English name of their language in lower case. */
const BY_NAME = new Map([
  ...Object.entries(OTHER_NAMES),
  ...Object.values(iso6393To1).flatMap((tag): [string, string][] => {
    const name = NAMES.of(tag)?.toLowerCase();
    return name === undefined ? [] : [[name, tag]];
  }),
]);

/** The canonical tag of the language that a recogniser has detected: it writes a tag, or an English name. Null for anything else. */
export function languageOfAnswer(text: string | null): string | null {
  if (text === null) return null;
  return BY_NAME.get(text.trim().toLowerCase()) ?? canonicalLanguage(text.trim()) ?? null;
}

/** The language of a tag without its region and script: recognisers know no others. */
export function primaryLanguage(tag: string): string {
  return tag.split('-', 1)[0] ?? '';
}
