/** Long enough for every language tag that is in use (RFC 5646 §4.4.1). */
const MAX_LENGTH = 35;

/** No registered primary language has more than three letters. Four letters are reserved (RFC 5646 §2.2.1). */
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

/**
 * The name of a canonical tag in its own language for a menu, e.g. `Français`; undefined for a language without a known name.
 * Private subtags and extensions make no difference.
 */
export function languageName(tag: string): string | undefined {
  const { baseName } = new Intl.Locale(tag);
  const name = new Intl.DisplayNames([baseName], { type: 'language', fallback: 'none' }).of(baseName);
  return name && name.charAt(0).toLocaleUpperCase(baseName) + name.slice(1);
}
