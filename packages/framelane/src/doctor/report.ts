import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Finding } from './finding.ts';

const SIGNS = { passed: '✓', warning: '!', failed: '✗' } as const;

/** The findings as a checklist. Texts can come from other systems. */
export function checklist(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ title, status, detail, advice }) => [
    `${SIGNS[status]} ${title}: ${safe(detail)}`,
    ...(advice === undefined ? [] : [`    ${safe(advice)}`]),
  ]);
  return `${[...lines, '', conclusion(findings)].join('\n')}\n`;
}

/** Keeps line feeds, and indents the lines after them. */
function safe(text: string): string {
  return text.split('\n').map(terminalText).join('\n    ');
}

function conclusion(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((each) => each.status === status).length;
  const [failures, warnings] = [count('failed'), count('warning')];
  if (failures > 0) return `${failures} of ${findings.length} checks failed.`;
  return warnings === 0
    ? 'Everything is in order.'
    : `Framelane works on this machine, with ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
}
