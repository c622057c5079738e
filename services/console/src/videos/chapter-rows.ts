import { FramelaneError, type Schemas } from '@framelane/client';
import { formatTypedTime, parseTypedTime, UNREADABLE_TIME } from '../ui/typed-time.ts';

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
  return chapters.map(({ start, title }, key) => ({ key, time: formatTypedTime(start), title }));
}

/** The chapters of the rows, in their order; or the errors in times that cannot be read. The API checks the rest. */
export function chaptersOf(
  rows: readonly ChapterRow[],
): { chapters: Chapter[]; errors?: undefined } | { chapters?: undefined; errors: RowErrors } {
  const starts = rows.map(({ time }) => parseTypedTime(time));
  const wrong = [...starts.entries()].filter(([, start]) => start === undefined);
  if (wrong.length > 0) {
    return { errors: Object.fromEntries(wrong.map(([at]) => [at, { time: UNREADABLE_TIME }])) };
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
  const row = { key, time: formatTypedTime(seconds), title: '' };
  const next = rows.findIndex(({ time }) => (parseTypedTime(time) ?? Number.NEGATIVE_INFINITY) > seconds);
  return next === -1 ? [...rows, row] : rows.toSpliced(next, 0, row);
}
