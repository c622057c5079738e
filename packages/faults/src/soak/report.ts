import { chart } from './chart.ts';
import { growthOf } from './growth.ts';
import { MEASURES, type Measure, type Sample } from './samples.ts';

/** What a run has done and found so far. */
export type Run = {
  seed: number;
  minutes: number;
  accepted: number;
  deleted: number;
  /** Accepted videos that were not deleted and are not ready, with their status. */
  lost: readonly string[];
  violations: string[];
  /** How often each kind of process was killed. */
  kills: Record<string, number>;
  samples: Sample[];
};

/** The files of the report, by name. */
export function reportOf(run: Run): Record<string, string> {
  const measures = Object.keys(MEASURES) as Measure[];
  const charts = measures.map((measure) => [`${measure}.svg`, chartOf(measure, run.samples)] as const);
  return { 'report.md': textOf(run, measures), ...Object.fromEntries(charts) };
}

function chartOf(measure: Measure, samples: readonly Sample[]): string {
  const { title, unit } = MEASURES[measure];
  const lines = Map.groupBy(
    samples.filter((sample) => sample.measure === measure),
    ({ series }) => series,
  );
  return chart(
    title,
    unit,
    [...lines].map(([name, points]) => ({ name, points })),
  );
}

function textOf(run: Run, measures: readonly Measure[]): string {
  const kills = Object.entries(run.kills).map(([name, times]) => `${name} ${times}`);
  return [
    '# Soak test',
    '',
    `- ${run.minutes.toFixed(0)} minutes, PROPERTY_SEED=${run.seed}`,
    `- videos accepted: ${run.accepted}, of which ${run.deleted} were deleted later`,
    `- lost: ${run.lost.length} of ${run.accepted}`,
    `- killed: ${kills.length === 0 ? 'nothing' : kills.join(', ')}`,
    `- violations of guarantees: ${run.violations.length}`,
    ...[...run.lost, ...run.violations].map((each) => `  - ${each}`),
    '',
    'Means of the second quarter of the time and of the last one:',
    '',
    '| | before | after | ratio |',
    '|---|---|---|---|',
    ...growthOf(run.samples).map(
      ({ measure, series, before, after, ratio }) =>
        `| ${MEASURES[measure].title}: ${series} | ${before.toFixed(1)} | ${after.toFixed(1)} | ${ratio.toFixed(2)} |`,
    ),
    '',
    ...measures.map((measure) => `![${MEASURES[measure].title}](${measure}.svg)\n`),
  ].join('\n');
}
