/** The longest Retry-After that is accepted, in seconds. */
const LONGEST_SECONDS = 24 * 3600;

/** Seconds from a Retry-After header: a number or a date (RFC 9110 §10.2.3). Null when it is missing or malformed. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header, now);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_SECONDS) : null;
}

function secondsUntil(date: string, now: Date): number {
  // Every HTTP date ends in GMT, except the obsolete asctime form, which is not supported.
  return / GMT$/.test(date) ? Math.ceil((Date.parse(date) - now.getTime()) / 1000) : Number.NaN;
}
