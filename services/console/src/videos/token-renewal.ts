/** A token is replaced this long before it expires. */
const AHEAD_MS = 5 * 60_000;
/** Minimum delay before a replacement. */
const SHORTEST_MS = 1_000;

/** Milliseconds until a token is replaced. `now` is a Unix time in milliseconds. */
export function renewAfter({ expiresAt }: { expiresAt: string }, now: number): number {
  return Math.max(SHORTEST_MS, Date.parse(expiresAt) - now - AHEAD_MS);
}
