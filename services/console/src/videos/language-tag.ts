/** Tags with more than a language that people know by an English name of their own, such as Brazilian Portuguese. */
const REGIONAL = [
  'de-AT',
  'de-CH',
  'en-AU',
  'en-CA',
  'en-GB',
  'en-US',
  'es-419',
  'es-ES',
  'es-MX',
  'fr-CA',
  'fr-CH',
  'pt-BR',
  'pt-PT',
  'yue',
  'zh-Hans',
  'zh-Hant',
];

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/** The tags of the English names of languages, in lower case. */
let tags: ReadonlyMap<string, string> | undefined;

/** The BCP 47 tag in a text: the text itself, or that of the English name of a language; undefined if it is neither. */
export function languageTagOf(text: string): string | undefined {
  const typed = text.trim();
  tags ??= tagsByName();
  const named = tags.get(typed.toLowerCase().replace(/\s+/g, ' '));
  if (named !== undefined) return named;
  return /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i.test(typed) ? typed : undefined;
}

function tagsByName(): Map<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  return new Map(
    [...codes, ...REGIONAL].flatMap((code) => {
      const name = names.of(code);
      // Deprecated codes, such as `iw`, have the name of another one.
      return name === undefined ? [] : [[name.toLowerCase(), Intl.getCanonicalLocales(code)[0] ?? code]];
    }),
  );
}
