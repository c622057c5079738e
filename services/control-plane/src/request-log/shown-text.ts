const TYPE_ID = /^(vid|ws|key|ses|whk|evt|dlv|req|wmk|log|aud)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether a text is the id of a resource. Ids are no secrets. */
export function isTypeId(value: string): boolean {
  return TYPE_ID.test(value);
}

/** What our secrets look like: API keys, secrets of webhooks, upload tokens, playback tokens, and credentials in headers. */
const SECRET = /(?:svc_(?:live|test)_|whsec_|ut_|eyJ|Bearer |Basic )[\w+/=.~-]{8,}/g;

/** A URL within a text. Only its origin is kept: its path and query can be secrets. */
const URLS = /https?:\/\/\S+/gi;

/**
 * The beginning of a text that may be stored, as PostgreSQL can store it. Should a client put a secret where none belongs, such as into a path,
 * it is left out.
 */
export function scrubbed(value: string, length: number): string {
  const text = value.slice(0, length).replace(URLS, withoutPath).replace(SECRET, '[secret]');
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The origin of a URL, e.g. `https://example.com/…`; undefined without one. */
export function originOf(value: string): string | undefined {
  const url = value.length > 2_048 ? null : URL.parse(value);
  return url === null || url.origin === 'null' ? undefined : `${url.origin}/…`;
}

function withoutPath(url: string): string {
  return originOf(url) ?? '[URL]';
}
