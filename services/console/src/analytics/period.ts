const DAY_MS = 86_400_000;

/** The most days of a report by day. */
const MAX_DAYS = 366;

/** The periods to choose from, in days that end today. */
export const LENGTHS = ['7', '30', '90'] as const;

/** What somebody has chosen: a number of days, or `own` with the first and the last day, which can be empty. */
export type Period = { days: (typeof LENGTHS)[number] | 'own'; from: string; to: string };

export const DEFAULT_PERIOD: Period = { days: '7', from: '', to: '' };

/** The period in the address of the page. What is unreadable counts as not chosen. */
export function readPeriod(search: string): Period {
  const parameters = new URLSearchParams(search);
  const day = (name: string) => {
    const text = parameters.get(name) ?? '';
    return isDay(text) ? text : '';
  };
  const [from, to] = [day('from'), day('to')];
  const days = LENGTHS.find((each) => each === parameters.get('days'));
  if (days !== undefined) return { days, from: '', to: '' };
  return from + to === '' ? DEFAULT_PERIOD : { days: 'own', from, to };
}

/** The address of a period. */
export function writePeriod({ days, from, to }: Period): string {
  return String(new URLSearchParams(days === 'own' ? { from, to } : { days }));
}

/** The query of a period, or what is wrong with it. `to` is exclusive. */
export type PeriodQuery = { query: { from: string; to?: string } } | { problem: string };

/** The query for a period at a time, in days of UTC. */
export function queryOfPeriod({ days, from, to }: Period, now: number): PeriodQuery {
  if (days !== 'own') return { query: { from: dayOf(now - (Number(days) - 1) * DAY_MS) } };
  const last = to === '' ? dayOf(now) : to;
  if (from === '') return { problem: 'Choose the first day.' };
  if (from > last) return { problem: 'The first day must not be after the last day.' };
  if ((Date.parse(last) - Date.parse(from)) / DAY_MS >= MAX_DAYS) {
    return { problem: `Choose at most ${MAX_DAYS} days.` };
  }
  return { query: { from, ...(last < dayOf(now) && { to: dayOf(Date.parse(last) + DAY_MS) }) } };
}

/** The own period to begin with when somebody leaves another one: the same days. */
export function asOwn(period: Period, now: number): Period {
  if (period.days === 'own') return period;
  return { days: 'own', from: dayOf(now - (Number(period.days) - 1) * DAY_MS), to: dayOf(now) };
}

/** The day of a Unix time in milliseconds, in UTC. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
