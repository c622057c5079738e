import { type AddressGuard, AddressRefusedError, readUrl } from '@framelane/address-guard/address-guard';
import { invalidField } from '@framelane/service-kit/problem';

/** What an engine requests. It is sealed while stored. */
export type ImportSource = { url: string; headers: Record<string, string> };

/**
 * Headers that Framelane sets itself (`Range`), that belong to one connection (RFC 9110 §7.6.1), or that describe a request
 * body.
 */
const REFUSED_HEADERS =
  /^(?:(?:accept-encoding|connection|date|expect|host|http2-settings|keep-alive|max-forwards|origin|range|te|trailer|transfer-encoding|upgrade|via)$|content-|if-|proxy-)/i;

/** The longest name that is taken from a URL. */
const LONGEST_FILENAME = 255;

/**
 * The source of an import, or a Problem that names the field. `guard` refuses URLs with an address that is not allowed. A name is not
 * resolved here: the engine checks its addresses for each connection, because the name can resolve differently then.
 */
export function readImportSource(
  guard: Pick<AddressGuard, 'checkFixed'>,
  url: string,
  headers: Record<string, string> = {},
): ImportSource {
  const names = new Set<string>();
  for (const name of Object.keys(headers)) {
    if (REFUSED_HEADERS.test(name)) {
      throw invalidField(`body/headers/${name}`, 'header', 'is set by Framelane; remove it');
    }
    if (names.has(name.toLowerCase())) {
      throw invalidField(`body/headers/${name}`, 'header', 'is set twice; names ignore case');
    }
    names.add(name.toLowerCase());
  }
  try {
    const parsed = readUrl(url, ['https:', 'http:']);
    guard.checkFixed(parsed);
    parsed.hash = '';
    return { url: parsed.href, headers };
  } catch (error) {
    if (error instanceof AddressRefusedError) throw invalidField('body/url', 'url', error.message);
    throw error;
  }
}

/** The URL as the record shows it: a query can contain credentials. */
export function shownUrl(url: string): string {
  const shown = new URL(url);
  shown.search = '';
  return shown.href;
}

/** The last part of the path, if it can be the name of a file; otherwise `import`. */
export function filenameOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  const name = decode(last);
  const isName = /^[^/\\\p{Cc}\p{Bidi_Control}\p{Cs}]+\.[^./\\\p{Cc}\p{Bidi_Control}\p{Cs}]+$/u.test(name);
  // As in the contract, which counts characters and not UTF-16 units.
  return isName && [...name].length <= LONGEST_FILENAME ? name : 'import';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
