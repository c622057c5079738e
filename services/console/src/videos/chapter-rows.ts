import { FramelaneError, type Schemas } from '@framelane/client';

type Chapter = Schemas['Chapter'];

/** A chapter as a user types it. */
export type ChapterRow = {
  /** Identifies the row while others come and go. */
  key: number;
  /** Such as `1:02.5`. */
  time: string;
  title: string;
};

/** What is wrong with the rows, by their position. */
export type RowErrors = Readonly<Record<number, { time?: string; title?: string }>>;

export function rowsOf(chapters: readonly Chapter[]): ChapterRow[] {
  return chapters.map(({ start, title }, key) => ({ key, time: formatStart(start), title }));
}

/** The chapters of the rows, in their order; or the errors in times that cannot be read. The API checks the rest. */
export function chaptersOf(
  rows: readonly ChapterRow[],
): { chapters: Chapter[]; errors?: undefined } | { chapters?: undefined; errors: RowErrors } {
  const starts = rows.map(({ time }) => parseStart(time));
  const wrong = [...starts.entries()].filter(([, start]) => start === undefined);
  if (wrong.length > 0) {
    const time = 'Write a time such as 1:02.5.';
    return { errors: Object.fromEntries(wrong.map(([at]) => [at, { time }])) };
  }
  return { chapters: rows.map(({ title }, at) => ({ start: starts[at] ?? 0, title })) };
}

/** The errors of the API that are about a row, by its position. */
export function rowErrors(error: unknown): RowErrors {
  const errors = error instanceof FramelaneError ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(
    errors.flatMap(({ field, message }) => {
      const [, at, name] = /^body\/chapters\/(\d+)\/(start|title)$/.exec(field) ?? [];
      if (at === undefined) return [];
      const words = `This ${message}.`;
      return [[at, name === 'start' ? { time: words } : { title: words }]];
    }),
  );
}

/** The rows with another one at a time in seconds, before the first row that begins later. */
export function withRow(rows: readonly ChapterRow[], seconds: number): ChapterRow[] {
  const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
  const row = { key, time: formatStart(seconds), title: '' };
  const next = rows.findIndex(({ time }) => (parseStart(time) ?? Number.NEGATIVE_INFINITY) > seconds);
  return next === -1 ? [...rows, row] : rows.toSpliced(next, 0, row);
}

/** Seconds of a text such as `62.5`, `1:02.5` or `1:00:02`; undefined if it is none. */
export function parseStart(text: string): number | undefined {
  const match = /^(?:(?:(\d{1,3}):)?(\d{1,5}):)?(\d{1,6}(?:[.,]\d{1,9})?)$/.exec(text.trim());
  if (match === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = ''] = match;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
  return Math.round(total * 1000) / 1000;
}

/** A time with the milliseconds that it has, e.g. `1:02.5`. */
export function formatStart(seconds: number): string {
  const total = Math.round(seconds * 1000);
  const whole = Math.floor(total / 1000);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = total % 1000 === 0 ? '' : String((total % 1000) / 1000).slice(1);
  const start = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${start}:${two(whole % 60)}${fraction}`;
}
