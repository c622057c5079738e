/** Longest wait a receiver can ask for, in seconds: as long as the longest pause of the usual schedule. */
const LONGEST_SECONDS = 24 * 3600;

/** Seconds a receiver asks to be left alone: a number or a date (RFC 9110 §10.2.3). Null when it does not say, or not clearly. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header, now);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_SECONDS) : null;
}

function secondsUntil(date: string, now: Date): number {
  // Every HTTP date ends in GMT but the obsolete asctime form, which nothing sends.
  return / GMT$/.test(date) ? Math.ceil((Date.parse(date) - now.getTime()) / 1000) : Number.NaN;
}
