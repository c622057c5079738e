import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 200;
/** Pixels for the labels of the y axis. */
const AXIS_WIDTH = 72;

type ChartProps = {
  /** A description for screen readers. The table below the chart has the figures. */
  label: string;
  /** Unix times in seconds, and the values at them. Null: unknown. */
  times: readonly number[];
  values: readonly (number | null)[];
  format: (value: number) => string;
};

/** A bar chart over time. Its y axis begins at zero. */
export function Chart({ label, times, values, format }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
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
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.1 : 1] } },
        axes: [
          lines,
          { ...lines, size: AXIS_WIDTH, values: (_, marks) => withoutRepetition(marks.map(format)) },
        ],
        series: [
          {},
          {
            label,
            fill: colour('--state-busy'),
            stroke: colour('--state-busy'),
            ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.7, 48] }) }),
            points: { show: false },
          },
        ],
      },
      [[...times], [...values]],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // A change of the appearance changes the colours.
  }, [label, times, values, format, scheme]);
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}

/** Labels of an axis: each once, because short axes have several marks that read the same. */
function withoutRepetition(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}
