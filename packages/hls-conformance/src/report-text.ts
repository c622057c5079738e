import type { Report, RuleResult } from './check.ts';
import type { Level } from './rule.ts';

const MARKS = { passed: '✓', failed: '✗', 'not applicable': '–' } as const;
const LEVELS: readonly Level[] = ['must', 'should', 'own'];
/** Findings often repeat for every segment: only the first ones are printed. */
const SHOWN = 8;

/** The report as text: a line for each rule, followed by its findings. */
export function reportText({ address, profile, results, notes }: Report): string {
  return [
    `${address}, profile ${profile}`,
    '',
    ...results.flatMap(resultLines),
    ...(notes.length > 0 ? ['', 'Not checked:', ...notes.map((note) => `  ${note}`)] : []),
    '',
    summary(results),
    ...advice(profile, results),
    '',
  ].join('\n');
}

function resultLines(result: RuleResult): string[] {
  const { id, level, source, sentence } = result;
  const head = `${MARKS[result.outcome]} ${id.padEnd(30)} ${level.padEnd(6)} ${sentence} [${source}]`;
  switch (result.outcome) {
    case 'passed':
      return result.figures === undefined ? [head] : [head, `    ${result.figures}`];
    case 'not applicable':
      return [head, `    not applicable: ${result.reason}`];
    case 'failed': {
      const shown = result.findings.slice(0, SHOWN).map(({ place, message }) => `    ${place}: ${message}`);
      const left = result.findings.length - shown.length;
      return [head, ...shown, ...(left > 0 ? [`    and ${left} more`] : [])];
    }
  }
}

/** The standard profile reports what Framelane leaves out on purpose. */
function advice(profile: Report['profile'], results: readonly RuleResult[]): string[] {
  const isFaulty = results.some(({ outcome }) => outcome === 'failed');
  return profile !== 'framelane' && isFaulty ? ['For a stream of Framelane, use --profile framelane.'] : [];
}

function summary(results: readonly RuleResult[]): string {
  const count = (outcome: RuleResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const broken = LEVELS.map((level) => {
    const failed = results.filter((result) => result.outcome === 'failed' && result.level === level);
    return failed.length > 0 ? `${failed.length} ${level}` : '';
  }).filter((text) => text !== '');
  const which = broken.length > 0 ? ` (${broken.join(', ')})` : '';
  return `${count('passed')} passed, ${count('failed')} failed${which}, ${count('not applicable')} not applicable`;
}
