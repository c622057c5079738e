/** When somebody used the console. Unix times in milliseconds. */
export type Visit = {
  /** The end of the visit before this one; null in the first one. */
  since: number | null;
  /** When the console was shown last. */
  seen: number;
};

/** A longer absence begins another visit. */
const GAP_MS = 30 * 60_000;

/**
 * The visit to which a time belongs. Until then the console was shown or was not (`wasShown`): time in front of it is no absence. A stored time that lies in
 * the future, because a clock was wrong, counts for nothing.
 */
export function visitAt(stored: Visit | undefined, now: number, wasShown: boolean): Visit {
  if (stored === undefined || stored.seen > now) return { since: null, seen: now };
  if (wasShown) return { ...stored, seen: now };
  return { since: now - stored.seen > GAP_MS ? stored.seen : stored.since, seen: now };
}

/** A stored visit; undefined if it is missing or invalid. */
export function readVisit(stored: string | null): Visit | undefined {
  if (stored === null) return undefined;
  try {
    const { since, seen } = JSON.parse(stored);
    const isValid = Number.isFinite(seen) && (since === null || Number.isFinite(since));
    return isValid ? { since, seen } : undefined;
  } catch {
    return undefined;
  }
}
