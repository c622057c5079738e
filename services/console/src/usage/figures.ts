import type { Schemas } from '@framelane/client';

/** The data of a chart or a table for each day or month: the name of the period, and the figures. Null: not recorded. */
export type Row = {
  /** `2026-11-21` or `2026-11`. */
  period: string;
  storageBytes: number | null;
  transcodedMinutes: number;
  bandwidthBytes: number;
};

export type Step = 'day' | 'month';

/** The periods that a person can choose, as months before the present one. */
export const MONTHS = ['0', '1', '2', '5', '11'] as const;

/** The options in the address of the page. */
export function readAddress(search: string): { months: (typeof MONTHS)[number]; step: Step } {
  const parameters = new URLSearchParams(search);
  return {
    months: MONTHS.find((each) => each === parameters.get('months')) ?? '0',
    step: parameters.get('by') === 'month' ? 'month' : 'day',
  };
}

/** The first day of the month this many months before the one of `now`, in UTC. */
export function firstDay(months: number, now: number): string {
  const time = new Date(now);
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() - months)).toISOString().slice(0, 10);
}

/** The days of a report, or their sums by month. The storage of a month is that of its last recorded day. */
export function rowsOf(days: readonly Schemas['UsageDay'][], step: Step): Row[] {
  const rows = new Map<string, Row>();
  for (const { date, storageBytes, transcodedMinutes, bandwidthBytes } of days) {
    const period = step === 'day' ? date : date.slice(0, 7);
    const before = rows.get(period);
    rows.set(period, {
      period,
      storageBytes: storageBytes ?? before?.storageBytes ?? null,
      transcodedMinutes: (before?.transcodedMinutes ?? 0) + transcodedMinutes,
      bandwidthBytes: (before?.bandwidthBytes ?? 0) + bandwidthBytes,
    });
  }
  return [...rows.values()];
}

/** The Unix time in seconds at which a day or month begins, in UTC. */
export function secondsOf(period: string): number {
  return Date.parse(period) / 1000;
}

/** A day or month in the form of the browser. */
export function periodWords(period: string): string {
  const isDay = period.length === 'YYYY-MM-DD'.length;
  const form = isDay ? ({ dateStyle: 'medium' } as const) : ({ month: 'short', year: 'numeric' } as const);
  return new Date(period).toLocaleDateString(undefined, { ...form, timeZone: 'UTC' });
}

/** The rows as CSV (RFC 4180). No field can be a formula, because each is a number or a date. */
export function toCsv(rows: readonly Row[]): string {
  const lines = rows.map(({ period, storageBytes, transcodedMinutes, bandwidthBytes }) =>
    [period, storageBytes ?? '', Number(transcodedMinutes.toFixed(3)), bandwidthBytes].join(','),
  );
  return `${['period,storage_bytes,transcoded_minutes,bandwidth_bytes', ...lines].join('\r\n')}\r\n`;
}

/** The part of a quota that is used, in per cent, at most 100; null without a limit. */
export function usedPercent(used: number, limit: number | null): number | null {
  if (limit === null) return null;
  return limit === 0 ? 100 : Math.min(100, (100 * used) / limit);
}
