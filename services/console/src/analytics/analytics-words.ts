import type { Schemas } from '@framelane/client';

const COUNT = new Intl.NumberFormat('en');
const SHORT_COUNT = new Intl.NumberFormat('en', { notation: 'compact' });

/** A number of views, such as `1,250`. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** A number for the axis of a chart, such as `12K`. Counts have no fractions. */
export function formatShortCount(count: number): string {
  return Number.isInteger(count) ? SHORT_COUNT.format(count) : '';
}

/** A time watched in its largest unit, such as `25.1 h`. */
export function formatWatchTime(seconds: number): string {
  if (seconds < 60) return `${COUNT.format(Math.round(seconds))} s`;
  if (seconds < 3600) return `${COUNT.format(Number((seconds / 60).toFixed(1)))} min`;
  const hours = seconds / 3600;
  return `${COUNT.format(Number(hours.toFixed(hours < 100 ? 1 : 0)))} h`;
}

/** A short time, such as `0.47 s`. */
export function formatStart(seconds: number): string {
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

/** A share in percent, such as `61.4 %`. */
export function formatPercent(percent: number): string {
  return `${Number(percent.toFixed(1))} %`;
}

/** A part of a whole in whole percent, such as `61 %`, or `< 1 %`. */
export function formatShare(percent: number): string {
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}

/** A part of a whole in percent. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

/** A day in UTC, such as `2026-11-24`, in the form of the browser. */
export function formatUtcDay(day: string): string {
  return new Date(day).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
}

export const DEVICE_WORDS: Record<Schemas['Analytics']['devices'][number]['device'], string> = {
  desktop: 'Desktop',
  phone: 'Phone',
  tablet: 'Tablet',
  tv: 'Television',
  other: 'Other',
};

export const ERROR_WORDS: Record<Schemas['PlaybackError'], string> = {
  interrupted: 'Data did not arrive',
  unsupported: 'The browser could not play it',
};

/** The name of a country by its two letters, or the letters if the browser does not know them. */
export function countryName(code: string): string {
  return new Intl.DisplayNames('en', { type: 'region', fallback: 'code' }).of(code) ?? code;
}

/** How often playback stalled, in words. */
export function stallWords({ stalls, views }: Pick<Schemas['Analytics'], 'stalls' | 'views'>): string {
  if (stalls.count === 0) return 'None';
  const each = views === 0 ? '' : `, ${COUNT.format(Number((stalls.count / views).toFixed(2)))} per view`;
  return `${formatCount(stalls.count)}${each}`;
}
