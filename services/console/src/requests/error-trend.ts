/** Days that the request log shows: seven times 24 hours touch eight days in UTC. */
const DAYS = 8;

const DAY_MS = 86_400_000;

/** The number of each of the last days in UTC, the oldest first; 0 for those that `daily` does not have. */
export function trendOf(
  daily: readonly { day: string; count: number }[],
  now: number,
): { day: string; count: number }[] {
  return Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(now - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, count: daily.find((each) => each.day === day)?.count ?? 0 };
  });
}
