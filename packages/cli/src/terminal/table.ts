import { terminalText } from './terminal-text.ts';

/** A table with aligned columns. Cells are escaped for the terminal. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(terminalText))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** Names and values, one below the other. Values are escaped for the terminal; entries without a value are left out. */
export function facts(entries: Readonly<Record<string, string | null | undefined>>): string {
  const shown = Object.entries(entries).flatMap(([name, value]) => (value == null ? [] : [[name, value]]));
  const width = Math.max(...shown.map(([name = '']) => name.length));
  return shown.map(([name = '', value = '']) => `${name.padEnd(width)}  ${terminalText(value)}\n`).join('');
}
