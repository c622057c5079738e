import { useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { formatDuration } from './format.ts';

const HEIGHT = 200;
/** Pixels for the labels of the x axis, and of each character of those of the y axis. */
const AXIS_HEIGHT = 32;
const CHARACTER_WIDTH = 7;

const DAY = 86_400;
const MONTH = { month: 'short', year: 'numeric' } as const;

/** Seconds between the marks of days: whole days and, from 30 days on, calendar months. */
const DAY_STEPS = [1, 2, 3, 5, 7, 10, 14, 30, 60, 90, 180, 365].map((days) => days * DAY);

/** Seconds between the marks of a timeline. */
const TIMELINE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18_000, 36_000];

type ChartProps = {
  /** A description for screen readers. A table beside the chart has the figures. */
  label: string;
  /** Bars for days or months in UTC, or a curve over the timeline of a video. */
  kind?: 'days' | 'timeline';
  /** Where the points are, in seconds: Unix times, or positions in the video. */
  times: readonly number[];
  /** The words for each point, such as its day. */
  names: readonly string[];
  /** The values of the points. Null: unknown. */
  values: readonly (number | null)[];
  format: (value: number) => string;
  /** The same for the marks of the y axis, if they are to be shorter. */
  formatAxis?: (value: number) => string;
  /** The upper end of the y axis. By default it follows from the values. */
  highest?: number;
  /** Whether the last bar is of a day that has not ended. It is paler. */
  isLastPartial?: boolean;
  /** What else is shown of a point, by its index. */
  more?: (index: number) => ReactNode;
};

/** A chart whose y axis begins at zero. The pointer, or the arrow keys, show the value of a point. */
export function Chart(props: ChartProps) {
  const { label, kind = 'days', times, names, values, format, formatAxis = format } = props;
  const { highest, isLastPartial = false, more } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(null);
  const scheme = useComputedColorScheme('light');
  const [pointed, setPointed] = useState<{ index: number; percent: number } | null>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name);
    const lines = {
      stroke: colour('--mantine-color-dimmed'),
      font: `12px ${style.fontFamily}`,
      grid: { stroke: colour('--line'), width: 1 },
    };
    const bars = {
      fill: colour('--state-busy'),
      stroke: colour('--state-busy'),
      ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.7, 48] }) }),
      points: { show: false },
    };
    const curve = {
      fill: `${colour('--state-busy')}26`,
      stroke: colour('--state-busy'),
      width: 2,
      points: { show: false },
    };
    const complete = values.map((value, at) => (isLastPartial && at === values.length - 1 ? null : value));
    const partial = values.map((value, at) => (complete[at] === null ? value : null));
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        hooks: {
          setCursor: [
            ({ cursor, over, valToPos }) => {
              const { idx } = cursor;
              const x = typeof idx === 'number' ? times[idx] : undefined;
              const percent = ((over.offsetLeft + valToPos(x ?? 0, 'x')) / element.clientWidth) * 100;
              setPointed(x === undefined ? null : { index: idx as number, percent });
            },
          ],
        },
        scales: {
          x: { time: kind === 'days', range: (_, first, last) => rangeOf(first, last, kind, times) },
          y: { range: (_, __, top) => [0, highest ?? (top > 0 ? top * 1.1 : 1)] },
        },
        axes: [
          kind === 'days'
            ? {
                ...lines,
                size: AXIS_HEIGHT,
                incrs: DAY_STEPS,
                values: (_, marks, __, ___, step) => marks.map((mark) => formatMark(mark, step)),
              }
            : {
                ...lines,
                size: AXIS_HEIGHT,
                incrs: TIMELINE_STEPS,
                values: (_, marks) => marks.map(formatDuration),
              },
          {
            ...lines,
            size: (_, labels) => widthOf(labels ?? []),
            values: (_, marks) => withoutRepetition(marks.map(formatAxis)),
          },
        ],
        series: [{}, kind === 'days' ? bars : curve, { ...bars, alpha: 0.45 }],
      },
      [[...times], complete, partial],
      element,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // A change of the appearance changes the colours.
  }, [kind, times, values, formatAxis, highest, isLastPartial, scheme]);
  const point = (index: number) => {
    const x = times[index];
    if (x !== undefined) plot.current?.setCursor({ left: plot.current.valToPos(x, 'x'), top: 0 });
  };
  const words = (index: number) => {
    const value = values[index] ?? null;
    return value === null ? 'not known' : format(value);
  };
  const index = pointed !== null && pointed.index < times.length ? pointed.index : null;
  const shown = index ?? times.length - 1;
  return (
    <div className="chart-frame">
      <div ref={box} className="chart" role="img" aria-label={label} />
      <input
        className="only-for-readers"
        type="range"
        aria-label={`Point of the ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
        aria-valuetext={`${names[shown]}: ${words(shown)}`}
        min={0}
        max={Math.max(0, times.length - 1)}
        value={shown}
        onFocus={() => point(shown)}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
        onChange={({ currentTarget }) => point(Number(currentTarget.value))}
      />
      {pointed !== null && index !== null && (
        <div
          className="chart-point"
          // Aligned with the same share of its own width, so that it stays within the chart.
          style={{ left: `${pointed.percent}%`, translate: `-${pointed.percent}%` }}
          aria-hidden
        >
          {more?.(index)}
          <strong>{words(index)}</strong>
          <span>{names[index]}</span>
        </div>
      )}
    </div>
  );
}

/** The ends of the x axis. Bars have half of their distance more on both sides, so that none is cut. */
function rangeOf(
  first: number,
  last: number,
  kind: ChartProps['kind'],
  times: readonly number[],
): [number, number] {
  // The first and the last point are as far from the ends.
  if (kind === 'timeline') return [0, first + last];
  const half = ((times[1] ?? first + DAY) - (times[0] ?? first)) / 2;
  return [first - half, last + half];
}

/** A day in UTC, or a month if the marks are so far apart, in the form of the browser. */
function formatMark(mark: number, step: number): string {
  const form = step < 28 * DAY ? ({ day: 'numeric', month: 'short' } as const) : MONTH;
  return new Date(mark * 1000).toLocaleDateString(undefined, { ...form, timeZone: 'UTC' });
}

function widthOf(labels: readonly string[]): number {
  const longest = Math.max(0, ...labels.map(({ length }) => length));
  return (longest + 3) * CHARACTER_WIDTH;
}

/** Labels of an axis: each once, because short axes have several marks that read the same. */
function withoutRepetition(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}
