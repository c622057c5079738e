import type { Schemas } from '@framelane/client';

type Day = Pick<Schemas['AnalyticsDay'], 'date' | 'views' | 'watchSeconds'>;

/** What was watched in the last seven days. */
export type Week = {
  views: number;
  watchSeconds: number;
  days: readonly Day[];
  /** Views in the seven days before. */
  viewsBefore: number;
};

const DAYS = 7;

/** The first day of the two weeks that end with today, in UTC. */
export function twoWeeksAgo(now: number): string {
  return new Date(now - (2 * DAYS - 1) * 86_400_000).toISOString().slice(0, 10);
}

/** The last week of a report that has the days of two. */
export function weekOf(days: readonly Day[]): Week {
  const [before, week] = [days.slice(-2 * DAYS, -DAYS), days.slice(-DAYS)];
  const sum = (of: readonly Day[], name: 'views' | 'watchSeconds') =>
    of.reduce((total, day) => total + day[name], 0);
  return {
    views: sum(week, 'views'),
    watchSeconds: sum(week, 'watchSeconds'),
    days: week,
    viewsBefore: sum(before, 'views'),
  };
}

/** How the views differ from those of the week before; undefined if that week had no views. */
export function changeWords({ views, viewsBefore }: Pick<Week, 'views' | 'viewsBefore'>): string | undefined {
  if (viewsBefore === 0) return undefined;
  const percent = Math.round((100 * (views - viewsBefore)) / viewsBefore);
  if (percent === 0) return 'As many as in the seven days before.';
  return `${Math.abs(percent)} % ${percent > 0 ? 'more' : 'fewer'} than in the seven days before.`;
}

/** A time span in seconds, with one unit, e.g. `12 min`, `3.4 h`. */
export function formatWatchTime(seconds: number): string {
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 3570) return `${Math.round(seconds / 60)} min`;
  const hours = seconds / 3600;
  return `${hours < 9.95 ? hours.toFixed(1) : Math.round(hours).toLocaleString()} h`;
}
