import { invalidField } from '@framelane/service-kit/problem';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Most days that are listed one by one. */
const MOST_DAYS = 366;

/** Whole days in UTC, from the first moment of one to, exclusively, the end of another or to now. */
export type UsagePeriod = { from: Date; to: Date };

/**
 * The period that is asked for, widened to whole days, because usage is counted by the day. It ends now unless told
 * otherwise, and begins with the month it ends in. Throws a 400 Problem when it would end before it begins.
 */
export function usagePeriod(asked: { from: Date | undefined; to: Date | undefined }, now: Date): UsagePeriod {
  const to = asked.to ?? now;
  const from = asked.from ?? startOfMonth(new Date(to.getTime() - 1));
  if (from >= to) throw invalidField('query/to', 'out_of_range', 'must be later than from');
  return {
    from: new Date(Math.floor(from.getTime() / DAY_MS) * DAY_MS),
    to: asked.to === undefined ? to : new Date(Math.ceil(to.getTime() / DAY_MS) * DAY_MS),
  };
}

/** First and last day of a period, e.g. `2026-11-01`. */
export function outerDays({ from, to }: UsagePeriod): { first: string; last: string } {
  return { first: dayOf(from), last: dayOf(new Date(to.getTime() - 1)) };
}

/** Every day of a period, the earliest first. Throws a 400 Problem when they are too many. */
export function everyDay({ from, to }: UsagePeriod): string[] {
  const count = Math.ceil((to.getTime() - from.getTime()) / DAY_MS);
  if (count > MOST_DAYS) {
    throw invalidField('query/groupBy', 'out_of_range', `goes with a period of at most ${MOST_DAYS} days`);
  }
  return Array.from({ length: count }, (_, index) => dayOf(new Date(from.getTime() + index * DAY_MS)));
}

/** The UTC day of a moment. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function startOfMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth()));
}
