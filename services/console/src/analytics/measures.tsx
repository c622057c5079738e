import type { Schemas } from '@framelane/client';
import { useId, useMemo, useState } from 'react';
import { Chart } from '../ui/chart.tsx';
import {
  formatCount,
  formatPercent,
  formatShortCount,
  formatUtcDay,
  formatWatchTime,
} from './analytics-words.ts';
import { dayOf } from './period.ts';

type Figures = Pick<
  Schemas['AnalyticsDay'],
  'views' | 'uniqueViewers' | 'watchSeconds' | 'averagePercentage'
>;

type Measure = {
  name: string;
  of: (figures: Figures) => number | null;
  format: (value: number) => string;
  /** For the axis of the chart. */
  short: (value: number) => string;
};

/** The figures that have a chart by day. */
const MEASURES = [
  { name: 'Views', of: ({ views }) => views, format: formatCount, short: formatShortCount },
  {
    name: 'Unique viewers',
    of: ({ uniqueViewers }) => uniqueViewers,
    format: formatCount,
    short: formatShortCount,
  },
  {
    name: 'Watch time',
    of: ({ watchSeconds }) => watchSeconds,
    format: formatWatchTime,
    short: formatWatchTime,
  },
  {
    name: 'Average watched',
    of: ({ averagePercentage }) => averagePercentage,
    format: formatPercent,
    short: formatPercent,
  },
] as const satisfies readonly Measure[];

/** The main figures of a period. Each shows its chart by day when it is chosen. */
export function Measures({ analytics }: { analytics: Schemas['Analytics'] }) {
  const group = useId();
  const [chosen, setChosen] = useState<Measure>(MEASURES[0]);
  return (
    <section className="measures-section" aria-label="Views by day">
      <fieldset className="measures">
        <legend className="only-for-readers">Figure of the chart</legend>
        {MEASURES.map((measure) => (
          <label key={measure.name} className="measure" data-chosen={measure.name === chosen.name}>
            <input
              className="only-for-readers"
              type="radio"
              name={group}
              checked={measure.name === chosen.name}
              onChange={() => setChosen(measure)}
            />
            <span className="measure-name">{measure.name}</span>
            <span className="measure-value">{wordsFor(measure, analytics)}</span>
          </label>
        ))}
      </fieldset>
      <DaysChart measure={chosen} days={analytics.days ?? []} />
      <FiguresByDay days={analytics.days ?? []} />
    </section>
  );
}

function DaysChart({ measure, days }: { measure: Measure; days: readonly Schemas['AnalyticsDay'][] }) {
  const { name, of, format, short } = measure;
  const times = useMemo(() => days.map(({ date }) => Date.parse(date) / 1000), [days]);
  const endsToday = days.at(-1)?.date === dayOf(Date.now());
  const names = days.map(
    ({ date }, at) => formatUtcDay(date) + (endsToday && at === days.length - 1 ? ', so far' : ''),
  );
  const values = useMemo(() => days.map(of), [days, of]);
  return (
    <>
      <Chart
        label={`Chart of ${name.toLowerCase()} by day. The table has the figures.`}
        times={times}
        names={names}
        values={values}
        format={format}
        formatAxis={short}
        isLastPartial={endsToday}
      />
      <p className="hint">Days in UTC.{endsToday && ' Today has not ended, so its bar is paler.'}</p>
    </>
  );
}

function FiguresByDay({ days }: { days: readonly Schemas['AnalyticsDay'][] }) {
  return (
    <details className="figures">
      <summary>Figures by day</summary>
      <div className="table-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              {MEASURES.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.date}>
                <th scope="row">{formatUtcDay(day.date)}</th>
                {MEASURES.map((measure) => (
                  <td key={measure.name}>{wordsFor(measure, day)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function wordsFor({ of, format }: Measure, figures: Figures): string {
  const value = of(figures);
  return value === null ? '–' : format(value);
}
