import { invalidField } from '@framelane/service-kit/problem';

/** Long enough for every language tag that is in use (RFC 5646 §4.4.1). */
const MAX_LENGTH = 35;

/** No primary language has more than three letters: those of four to eight are reserved (RFC 5646 §2.2.1). */
const PRIMARY_LANGUAGE = /^[a-z]{2,3}(-|$)/;

/** The canonical form of a BCP 47 language tag, e.g. `pt-BR` for `PT-br` and `en` for `eng`; undefined for other texts. */
export function canonicalLanguage(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    const [tag = ''] = Intl.getCanonicalLocales(text);
    return PRIMARY_LANGUAGE.test(tag) ? tag : undefined;
  } catch {
    return undefined;
  }
}

/** The same for the path of a request. Throws 400 for other texts. */
export function requireLanguage(text: string): string {
  const tag = canonicalLanguage(text);
  if (tag !== undefined) return tag;
  throw invalidField('path/language', 'format', 'must be a BCP 47 language tag, such as en or pt-BR');
}

/**
 * The name of a canonical tag in its own language, e.g. `Deutsch`; the tag for a language without a known name. Private subtags
 * make no difference.
 */
export function languageName(tag: string): string {
  const { baseName } = new Intl.Locale(tag);
  return new Intl.DisplayNames([baseName], { type: 'language' }).of(baseName) ?? baseName;
}
