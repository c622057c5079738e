import { terminalText } from '@framelane/service-kit/terminal-text';

/** Columns in line, two spaces apart, under their headings. Cells may hold text from outside. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(terminalText))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
