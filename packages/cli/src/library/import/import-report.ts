import { sizeText } from '../../terminal/amounts.ts';
import { table } from '../../terminal/table.ts';
import { terminalText } from '../../terminal/terminal-text.ts';

export type Outcome = 'imported' | 'planned' | 'skipped' | 'failed';

/** What has become of a video of the library. */
export type ReportEntry = {
  /** The id of the original, such as `mux:<asset>`. */
  id: string;
  name: string;
  outcome: Outcome;
  videoId?: string;
  /** Size of the file, if it is known. */
  bytes?: number | null;
  /** Why it was skipped, or has failed and what to do. */
  reason?: string;
  warnings: readonly string[];
};

export type ImportReport = {
  source: string;
  workspaceId: string;
  finishedAt: string;
  /** False if Ctrl-C or an error has ended the list before its end. */
  complete: boolean;
  counts: Record<Outcome, number>;
  /** Of the files that were imported or would be, as far as sizes are known. */
  bytes: number;
  items: readonly ReportEntry[];
};

export function importReport(
  run: Pick<ImportReport, 'source' | 'workspaceId' | 'complete'>,
  items: readonly ReportEntry[],
): ImportReport {
  const counts: ImportReport['counts'] = { imported: 0, planned: 0, skipped: 0, failed: 0 };
  let bytes = 0;
  for (const { outcome, bytes: size } of items) {
    counts[outcome] += 1;
    if (outcome === 'imported' || outcome === 'planned') bytes += size ?? 0;
  }
  return { ...run, finishedAt: new Date().toISOString(), counts, bytes, items };
}

/** The report for people: what needs their attention, and the counts. */
export function describeReport({ source, counts, bytes, complete, items }: ImportReport): string {
  const failed = items.filter(({ outcome }) => outcome === 'failed');
  const lines = [
    ...(failed.length > 0
      ? [
          table(
            ['FAILED', 'REASON'],
            failed.map(({ name, reason = '' }) => [name, reason]),
          ),
        ]
      : []),
    ...items
      .filter(({ warnings }) => warnings.length > 0)
      .map(({ name, warnings }) =>
        [terminalText(name), ...warnings.map((warning) => `  ${terminalText(warning)}`), ''].join('\n'),
      ),
    table(
      ['IMPORTED', 'PLANNED', 'SKIPPED', 'FAILED', 'SIZE'],
      [
        [
          ...(['imported', 'planned', 'skipped', 'failed'] as const).map((one) => String(counts[one])),
          sizeText(bytes),
        ],
      ],
    ),
  ];
  if (!complete)
    lines.push(
      `The list of ${terminalText(source)} was not read to its end. Run the command again to go on.\n`,
    );
  return lines.join('\n');
}
