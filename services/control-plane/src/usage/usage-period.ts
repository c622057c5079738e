import { invalidField } from '@framelane/service-kit/problem';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum number of days in a report by day. */
const MAX_DAYS = 366;

/** Whole days in UTC; the last one can end now. `to` is exclusive. */
export type UsagePeriod = { from: Date; to: Date };

/**
 * The requested period, extended to whole days, because usage is counted by the day. By default it ends now, and starts with
 * the month it ends in. Throws a 400 Problem when it does not end after its start.
 */
export function usagePeriod(
  requested: { from: Date | undefined; to: Date | undefined },
  now: Date,
): UsagePeriod {
  const to = requested.to ?? now;
  const from = requested.from ?? startOfMonth(new Date(to.getTime() - 1));
  if (from >= to) throw invalidField('query/to', 'out_of_range', 'must be later than from');
  return {
    from: new Date(Math.floor(from.getTime() / DAY_MS) * DAY_MS),
    to: requested.to === undefined ? to : new Date(Math.ceil(to.getTime() / DAY_MS) * DAY_MS),
  };
}

/** The first and the last day of a period, e.g. `2026-11-01`. */
export function outerDays({ from, to }: UsagePeriod): { first: string; last: string } {
  return { first: dayOf(from), last: dayOf(new Date(to.getTime() - 1)) };
}

/** Every day of a period, earliest first. Throws a 400 Problem for too many days. */
export function everyDay({ from, to }: UsagePeriod): string[] {
  const count = Math.ceil((to.getTime() - from.getTime()) / DAY_MS);
  if (count > MAX_DAYS) {
    throw invalidField('query/groupBy', 'out_of_range', `is for a period of at most ${MAX_DAYS} days`);
  }
  return Array.from({ length: count }, (_, index) => dayOf(new Date(from.getTime() + index * DAY_MS)));
}

/** The UTC day of a time. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

function startOfMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}
