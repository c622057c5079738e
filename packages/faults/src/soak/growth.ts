import type { Sample } from './samples.ts';

/** Growth of a series: from the second quarter of its time to the last one. Caches and pools fill in the first. */
export type Growth = {
  measure: Sample['measure'];
  series: string;
  before: number;
  after: number;
  ratio: number;
};

/** The growth of each series that has samples in both quarters. */
export function growthOf(samples: readonly Sample[]): Growth[] {
  const end = Math.max(...samples.map(({ minutes }) => minutes));
  const names = new Map(samples.map(({ measure, series }) => [`${measure} ${series}`, { measure, series }]));
  return [...names.values()].flatMap(({ measure, series }) => {
    const between = (from: number, to: number) =>
      samples
        .filter((sample) => sample.measure === measure && sample.series === series)
        .filter(({ minutes }) => minutes >= from * end && minutes < to * end)
        .map(({ value }) => value);
    const [before, after] = [mean(between(0.25, 0.5)), mean(between(0.75, 1))];
    if (before === undefined || after === undefined) return [];
    return [{ measure, series, before, after, ratio: after / before }];
  });
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
